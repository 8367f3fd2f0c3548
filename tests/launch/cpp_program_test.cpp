#include "accelerate/launch/program/cpp_program.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <thread>
#include <vector>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/process/child_process.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::launch;
namespace fs = std::filesystem;

TEST_CASE("a source file is compiled once, and again when it or what it includes has changed") {
  tests::TemporaryDirectory directory;
  const auto& root = directory.path();
  auto source = (root / "train.cpp").string();
  auto write = [](const fs::path& path, const std::string& text) { std::ofstream(path) << text; };
  write(root / "answer.h", "inline int answer() { return 3; }\n");
  write(source,
        "#include <vector>\n#include \"answer.h\"\nint main() { std::vector<int> one(1); return answer() * one.size(); "
        "}\n");
  BuildRecipe recipe{.version = "1", .compiler = "c++", .headers = {"vector"}, .compile_flags = {"-O0"}};

  std::string said;
  auto exit_code = [&](const BuildRecipe& with) {
    fs::path program;
    said = tests::captured_stderr([&] { program = compile_program(source, with, root / "cache"); });
    return process::run_and_capture({program.string()}).exit_code;
  };
  CHECK(exit_code(recipe) == 3);
  CHECK_MESSAGE(said.find("compiling the library headers") != std::string::npos, said);
  CHECK_MESSAGE(said.find("compiling " + source) != std::string::npos, said);

  CHECK(exit_code(recipe) == 3);
  CHECK(said == "");

  write(root / "answer.h", "inline int answer() { return 4; }\n");
  CHECK(exit_code(recipe) == 4);
  CHECK_MESSAGE(said.find("library headers") == std::string::npos, said);
  CHECK(said.find("compiling " + source) != std::string::npos);

  recipe.compile_flags = {"-O1"};
  CHECK(exit_code(recipe) == 4);
  CHECK(said.find("library headers") != std::string::npos);

  {
    PatchEnvironment no_compiler{{"PATH", "/nowhere"}};
    CHECK(exit_code(recipe) == 4);
    write(source, "int main() { return 5; }\n");
    CHECK_THROWS_WITH_AS(exit_code(recipe), doctest::Contains("the compiler c++ was not found"), Error);
  }
  write(source, "int main() { return }\n");
  CHECK_THROWS_WITH_AS(exit_code(recipe), doctest::Contains("does not compile"), Error);
  CHECK_THROWS_WITH_AS(compile_program("missing.cpp", recipe, root / "cache"), doctest::Contains("missing.cpp"), Error);
}

TEST_CASE("a program is compiled again when the library has changed, and its headers are kept once") {
  tests::TemporaryDirectory directory;
  auto write_library = [&](const std::string& number) {
    directory.write("include/own/own.h",
                    "#pragma once\n#include <own/part.h>\ninline int answer() { return part() + 10; }\n");
    directory.write("include/own/part.h", "#pragma once\ninline int part() { return " + number + "; }\n");
  };
  auto whole = directory.write("whole.cpp", "#include <own/own.h>\nint main() { return answer(); }\n");
  auto narrow = directory.write("narrow.cpp", "#include <own/part.h>\nint main() { return part(); }\n");
  BuildRecipe recipe{.version = "1", .compiler = "c++", .headers = {"own/own.h"}};
  recipe.compile_flags = {"-O0", "-isystem", (directory.path() / "include").string()};
  std::string said;
  auto exit_code = [&](const std::string& source) {
    fs::path program;
    said = tests::captured_stderr([&] { program = compile_program(source, recipe, directory.path() / "cache"); });
    return process::run_and_capture({program.string()}).exit_code;
  };
  for (int number : {1, 2}) {
    write_library(std::to_string(number));
    CHECK(exit_code(whole) == number + 10);
    CHECK_MESSAGE(said.find("library headers") != std::string::npos, said);
    CHECK(exit_code(narrow) == number);
    write_library(std::to_string(number));  // the same again, as an installation does
    CHECK(exit_code(whole) == number + 10);
    CHECK(said == "");
  }
  fs::directory_iterator cache(directory.path() / "cache");
  CHECK(std::count_if(begin(cache), end(cache),
                      [](const auto& entry) { return entry.path().filename().string().starts_with("headers-"); }) == 1);
}

TEST_CASE("CXXFLAGS and LDFLAGS of the environment belong to the compilation") {
  tests::TemporaryDirectory directory;
  auto source = directory.write("train.cpp", "int other();\nint main() { return ANSWER[0] + other(); }\n");
  directory.write("other.cpp", "int other() { return 1; }\n");
  auto library = (directory.path() / "other.o").string();
  REQUIRE(process::run_and_capture({"c++", "-c", (directory.path() / "other.cpp").string(), "-o", library}).exit_code ==
          0);
  const BuildRecipe recipe{.version = "1", .compiler = "c++", .compile_flags = {"-O0", "-DANSWER=0"}};
  auto exit_code = [&](const char* flags) {
    PatchEnvironment environment{{"CXXFLAGS", flags}, {"LDFLAGS", library}};
    fs::path program;
    tests::captured_stderr(
        [&] { program = compile_program(source, with_environment_flags(recipe), directory.path() / "cache"); });
    return process::run_and_capture({program.string()}).exit_code;
  };
  CHECK(exit_code("-UANSWER '-DANSWER=\"\\2 \"'") == 3);
  CHECK(exit_code("-UANSWER '-DANSWER=\"\\4 \"'  -O1") == 5);
  CHECK_THROWS_WITH_AS(exit_code("-DANSWER=(1)"), doctest::Contains("CXXFLAGS is '-DANSWER=(1)'"), Error);

  PatchEnvironment none{{"CXXFLAGS", std::nullopt}, {"LDFLAGS", std::nullopt}};
  CHECK(with_environment_flags(recipe).compile_flags == recipe.compile_flags);
  CHECK(with_environment_flags(recipe).link_flags.empty());
}

TEST_CASE("what the compiler says begins on a line of its own") {
  tests::TemporaryDirectory directory;
  auto source = directory.write("train.cpp", "int main() { return }\n");
  const BuildRecipe recipe{.version = "1", .compiler = "c++", .compile_flags = {"-O0"}};
  auto said = tests::captured_stderr(
      [&] { CHECK_THROWS_AS(compile_program(source, recipe, directory.path() / "cache"), Error); });
  CHECK_MESSAGE(said.starts_with("accelerate launch: compiling " + source + "\n" + source + ": "), said);
}

TEST_CASE("precompiled headers do not change what compiles") {
  tests::TemporaryDirectory directory;
  BuildRecipe recipe{.version = "1", .compiler = "c++", .headers = {"vector", "map"}, .compile_flags = {"-O0"}};
  std::string said;
  auto compile = [&](const std::string& text) {
    auto source = directory.write("train.cpp", text);
    said = tests::captured_stderr([&] { compile_program(source, recipe, directory.path() / "cache"); });
  };
  compile("#include <vector>\nint main() { return std::vector<int>(2).size() - 2; }\n");
  CHECK(said.find("library headers") != std::string::npos);
  compile("  # include \"vector\"  // again\nint main() { return std::vector<int>(1).size() - 1; }\n");
  CHECK(said.find("library headers") == std::string::npos);
  compile("int main() { return 0; }\n");
  CHECK(said.find("library headers") == std::string::npos);
  for (const char* lacking : {"int main() { return std::vector<int>(1).size(); }\n",
                              "#include <vector>\nint main() { return std::map<int, int>().size(); }\n"}) {
    CHECK_THROWS_WITH_AS(compile(lacking), doctest::Contains("does not compile"), Error);
  }
}

TEST_CASE("a source whose path make would take apart is compiled again when it has changed") {
  tests::TemporaryDirectory directory;
  auto source = directory.write("a b/$x #1.cpp", "int main() { return 3; }\n");
  BuildRecipe recipe{.version = "1", .compiler = "c++", .compile_flags = {"-O0"}};
  auto exit_code = [&] {
    fs::path program;
    tests::captured_stderr([&] { program = compile_program(source, recipe, directory.path() / "cache"); });
    return process::run_and_capture({program.string()}).exit_code;
  };
  CHECK(exit_code() == 3);
  directory.write("a b/$x #1.cpp", "int main() { return 4; }\n");
  CHECK(exit_code() == 4);
}

TEST_CASE("a source that is edited while it compiles is compiled again") {
  tests::TemporaryDirectory directory;
  const auto& root = directory.path();
  auto source = directory.write("train.cpp", "int main() { return 3; }\n");
  // A compiler during whose work on it the file is replaced by an older one.
  auto older = directory.write("older.cpp", "int main() { return 4; }\n");
  auto script = "#!/bin/sh\nc++ \"$@\" || exit 1\ncase \"$*\" in *" + source + "*) [ ! -e " + older + " ] || mv " +
                older + " " + source + ";; esac\n";
  auto compiler = directory.write("compiler", script);
  fs::permissions(compiler, fs::perms::owner_all);
  BuildRecipe recipe{.version = "1", .compiler = compiler, .compile_flags = {"-O0"}};
  std::string said;
  auto exit_code = [&] {
    fs::path program;
    said = tests::captured_stderr([&] { program = compile_program(source, recipe, root / "cache"); });
    return process::run_and_capture({program.string()}).exit_code;
  };
  exit_code();
  CHECK(exit_code() == 4);
  CHECK(exit_code() == 4);
  CHECK(said == "");
}

TEST_CASE("launches of one source at the same time compile it once") {
  tests::TemporaryDirectory directory;
  auto source = directory.write("train.cpp", "#include <cstddef>\nint main() { return 3; }\n");
  auto calls = (directory.path() / "calls").string();
  auto compiler = directory.write("compiler", "#!/bin/sh\necho call >> " + calls + "\nexec c++ \"$@\"\n");
  fs::permissions(compiler, fs::perms::owner_all);
  BuildRecipe recipe{.version = "1", .compiler = compiler, .headers = {"cstddef"}, .compile_flags = {"-O0"}};
  tests::captured_stderr([&] {
    std::vector<std::thread> launches;
    for (int i = 0; i < 3; ++i) {
      launches.emplace_back([&] {
        auto program = compile_program(source, recipe, directory.path() / "cache");
        CHECK(process::run_and_capture({program.string()}).exit_code == 3);
      });
    }
    for (auto& launch : launches) launch.join();
  });
  CHECK(directory.read("calls") == "call\ncall\n");  // for the headers, and for the program
  for (const auto& entry : fs::recursive_directory_iterator(directory.path() / "cache")) {
    CHECK(entry.path().string().find("unfinished") == std::string::npos);
    CHECK(entry.path().extension() != ".lock");
  }
}

TEST_CASE("programs are kept in the user's cache, also where XDG_CACHE_HOME is set to nothing") {
  PatchEnvironment user{{"HOME", "/users/me"}, {"XDG_CACHE_HOME", ""}};
  CHECK(program_cache() == "/users/me/.cache/accelerate/programs");
}

TEST_CASE("sources are known by their names") {
  for (auto name : {"train.cpp", "a/b.cc", "x.cxx"}) CHECK(is_cpp_source(name));
  for (auto name : {"train", "train.py", "cpp", "train.cpp.o"}) CHECK_FALSE(is_cpp_source(name));
}
