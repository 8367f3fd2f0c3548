#include "accelerate/base/atomic_file.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "accelerate/base/error.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

auto num_entries(const fs::path& directory) { return std::distance(fs::directory_iterator(directory), {}); }

}  // namespace

TEST_CASE("a file appears when it is committed, and not before") {
  TemporaryDirectory home;
  home.write("file", "old");
  {
    AtomicFile file(home.path() / "file");
    file.append("new ");
    CHECK(home.read("file") == "old");
    file.append("text");
    file.commit();
  }
  CHECK(home.read("file") == "new text");
  CHECK(num_entries(home.path()) == 1);
}

TEST_CASE("without a commit nothing remains") {
  TemporaryDirectory home;
  home.write("file", "old");
  {
    AtomicFile(home.path() / "file").append("half");
  }
  CHECK(home.read("file") == "old");
  CHECK(num_entries(home.path()) == 1);
}

TEST_CASE("two that write one file do not write into each other's") {
  TemporaryDirectory home;
  // As in containers of two machines, both are the same process number.
  AtomicFile first(home.path() / "file"), second(home.path() / "file");
  first.append("first");
  second.append("second");
  first.commit();
  CHECK(home.read("file") == "first");
  second.commit();
  CHECK(home.read("file") == "second");
  CHECK(num_entries(home.path()) == 1);
}

TEST_CASE("what a killed process has left goes with the next file, and what a living one writes stays") {
  TemporaryDirectory home;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(home.path() / "model-00001-of-00002.safetensors");
    file.append("half");
    (void)!write(ready[1], "+", 1);
    pause();
    _exit(0);
  }
  close(ready[1]);  // else a child that fails would be waited for
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  write_file_atomically(home.path() / "model.safetensors", "new");
  CHECK(num_entries(home.path()) == 2);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  write_file_atomically(home.path() / "model.safetensors", "newer");
  CHECK(num_entries(home.path()) == 1);
  CHECK(home.read("model.safetensors") == "newer");
  for (int end : ready) close(end);
}

TEST_CASE("a file that is replaced hands on its mode, and a link stays one") {
  TemporaryDirectory home;
  auto file = home.write("file", "old");
  chmod(file.c_str(), 0640);
  fs::create_symlink("file", home.path() / "link");
  write_file_atomically(home.path() / "link", "new");
  CHECK(fs::is_symlink(home.path() / "link"));
  CHECK(home.read("file") == "new");
  CHECK(static_cast<int>(fs::status(file).permissions()) == 0640);
}

TEST_CASE("writing into a missing directory names the directory") {
  CHECK_THROWS_WITH_AS(AtomicFile("/nowhere/file"), doctest::Contains("/nowhere/.file.unfinished-"), Error);
}

TEST_CASE("make_directories makes all that is missing on the way, twice if need be") {
  TemporaryDirectory home;
  for (int i = 0; i < 2; ++i) make_directories(home.path() / "a" / "b" / "");
  CHECK(fs::is_directory(home.path() / "a" / "b"));
  auto file = home.write("file", "");
  CHECK_THROWS_WITH_AS(make_directories(file), doctest::Contains("file: cannot be created: File exists"), Error);
}
