#include "accelerate/launch/program/program.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"

using namespace accelerate;
using namespace accelerate::launch;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, bool executable) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << "#!/bin/sh\n";
  auto permissions = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(path, executable ? permissions | fs::perms::owner_exec : permissions);
}

void check_refused(const std::string& program, const std::string& search_path, const char* message) {
  CHECK_THROWS_WITH_AS(find_command(program, {}, search_path), doctest::Contains(message), Error);
}

}  // namespace

TEST_CASE("a program is found by its path, in PATH, or else beside us") {
  char pattern[] = "/tmp/programs_XXXXXX";
  fs::path root = mkdtemp(pattern);
  auto before = fs::current_path();
  ScopeExit clean([&] {
    fs::current_path(before);
    fs::remove_all(root);
  });
  fs::current_path(root);
  write(root / "train", true);
  write(root / "first/tool", false);
  write(root / "second/tool", true);
  write(root / "second/python3", true);
  write(root / "script.py", false);
  write(root / "plain", false);
  auto search_path = (root / "first").string() + ":" + (root / "second").string();

  auto by_path = find_command("./train", {"--lr", "1"}, search_path);
  CHECK(by_path.path == "./train");
  CHECK(by_path.arguments == std::vector<std::string>{"./train", "--lr", "1"});

  CHECK(find_command("tool", {}, search_path).path == (root / "second/tool").string());
  CHECK(find_command("train", {}, search_path).path == "./train");

  auto python = find_command("script.py", {"x"}, search_path);
  CHECK(python.path == (root / "second/python3").string());
  CHECK(python.arguments == std::vector<std::string>{"python3", "script.py", "x"});

  auto module = find_command("package.train", {"x"}, search_path, {.module = true});
  CHECK(module.arguments == std::vector<std::string>{"python3", "-m", "package.train", "x"});
  fs::permissions(root / "script.py", fs::perms::owner_all);
  CHECK(find_command("./script.py", {}, search_path, {.no_python = true}).path == "./script.py");

  check_refused("./nothing", search_path, "'./nothing' does not exist");
  check_refused("nothing", search_path, "nor in PATH");
  check_refused("missing.py", search_path, "'missing.py' does not exist");
  check_refused("script.py", "/nowhere", "needs python3");
  check_refused("./plain", search_path, "is not executable");
  check_refused("./first", search_path, "is a directory");
}
