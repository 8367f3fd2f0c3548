// The C++ kernel, made known to Jupyter by an installed command.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command_run.h"

using namespace accelerate;
using accelerate::tests::run;
using accelerate::tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

constexpr const char* kCompiler = R"(#!/bin/sh
[ "$1" = -print-resource-dir ] && echo /the/resources && exit 0
while [ "$1" != -o ]; do shift; done
echo "a compiler was here" >&2
[ -z "$BROKEN_HEADERS" ] && echo compiled >"$2"
)";

/// An installation with the programs of the kernel, and with a compiler that is done at once.
class Installation {
 public:
  explicit Installation(bool with_kernel = true) {
    fs::create_directories(prefix() / "bin");
    fs::copy(ACCELERATE_COMMAND, prefix() / "bin/accelerate");
    directory_.write("installed/" ACCELERATE_LIBDIR "/accelerate/program.json",
                     R"({"version": "1", "compiler": "g++", "headers": [], "link": [],
                         "compile": ["-std=c++20", "-O2", "-g", "-isystem", "{prefix}/include"]})");
    for (const char* program : {"accelerate-kernel", "accelerate-cells"}) {
      if (with_kernel) directory_.write("installed/" ACCELERATE_LIBEXECDIR "/accelerate/" + std::string(program), "");
    }
    add_program("clang++-19", kCompiler);
  }

  fs::path prefix() const { return path() / "installed"; }
  const fs::path& path() const { return directory_.path(); }
  std::string read(const fs::path& file) const { return tests::text_of(file); }

  void add_program(const std::string& name, const std::string& text) const {
    fs::permissions(directory_.write("programs/" + name, text), fs::perms::owner_all);
  }

  tests::Result install(std::vector<std::string> words, std::vector<EnvironmentVariable> environment = {}) const {
    words.insert(words.begin(), {prefix() / "bin/accelerate", "notebook", "install"});
    environment.insert(environment.begin(), {{"PATH", (path() / "programs").string() + ":/usr/bin:/bin"},
                                             {"HOME", (path() / "home").string()},
                                             {"XDG_DATA_HOME", std::nullopt},
                                             {"JUPYTER_DATA_DIR", std::nullopt}});
    return run(words, environment);
  }

 private:
  TemporaryDirectory directory_;
};

fs::path kernel_below(const fs::path& jupyter) { return jupyter / "kernels/accelerate-cpp"; }

}  // namespace

TEST_CASE("notebook install describes the kernel where the Jupyter of an environment finds it") {
  Installation installation;
  auto environment = installation.path() / "venv";
  fs::create_directories(environment / "bin");
  fs::copy(ACCELERATE_COMMAND, environment / "bin/jupyter");
  auto done = installation.install({"--prefix", environment});
  REQUIRE_MESSAGE(done.exit_code == 0, done.errors);
  auto directory = kernel_below(environment / "share/jupyter");
  CHECK(done.output ==
        "Compiling the headers of the notebook, which takes about a minute ...\n"
        "Installed the kernel accelerate-cpp in " +
            directory.string() + "\n");
  CHECK(installation.read(directory / "prelude.h") == "#include <notebook/prelude.h>\n");
  CHECK(installation.read(directory / "prelude.pch") == "compiled\n");
  auto kernel = nlohmann::json::parse(installation.read(directory / "kernel.json"));
  auto programs = installation.prefix() / ACCELERATE_LIBEXECDIR "/accelerate";
  std::vector<std::string> argv = {programs / "accelerate-kernel",
                                   "{connection_file}",
                                   programs / "accelerate-cells",
                                   "-resource-dir=/the/resources",
                                   "-fPIC",
                                   "-fretain-comments-from-system-headers",
                                   "-Wno-unused-value",
                                   "-std=c++20",
                                   "-isystem",
                                   installation.prefix() / "include",
                                   "-include-pch",
                                   directory / "prelude.pch"};
  CHECK(kernel["argv"] == argv);
  CHECK(kernel["language"] == "c++");

  auto again = installation.install({"--prefix", environment});
  CHECK(again.exit_code == 0);
  CHECK(again.output == "Installed the kernel accelerate-cpp in " + directory.string() + "\n");
}

TEST_CASE("notebook install for a user follows Jupyter's variables") {
  Installation installation;
  installation.add_program("jupyter", "#!/bin/sh\n");
  auto place = [&](const char* name) { return (installation.path() / name).string(); };
  struct Case {
    std::vector<std::string> words;
    std::vector<EnvironmentVariable> environment;
    fs::path jupyter;
  };
  for (const auto& [words, environment, jupyter] : std::vector<Case>{
           {{}, {}, installation.path() / "home/.local/share/jupyter"},
           {{"--user"}, {{"XDG_DATA_HOME", ""}}, installation.path() / "home/.local/share/jupyter"},
           {{"--user"}, {{"XDG_DATA_HOME", place("data")}}, place("data") + "/jupyter"},
           {{"--user"}, {{"XDG_DATA_HOME", place("data")}, {"JUPYTER_DATA_DIR", place("own")}}, place("own")},
       }) {
    auto done = installation.install(words, environment);
    CHECK_MESSAGE(done.exit_code == 0, done.errors);
    CHECK(done.output.ends_with("Installed the kernel accelerate-cpp in " + kernel_below(jupyter).string() + "\n"));
    CHECK(fs::exists(kernel_below(jupyter) / "kernel.json"));
  }
}

TEST_CASE("notebook install says where Jupyter comes from when there is none") {
  Installation installation;
  auto for_user = installation.install({"--user"}, {{"PATH", (installation.path() / "programs").string()}});
  CHECK(for_user.output.ends_with("\nThere is no jupyter in PATH; pip install jupyterlab installs it\n"));
  auto prefix = (installation.path() / "empty").string();
  auto for_prefix = installation.install({"--prefix", prefix});
  CHECK(for_prefix.exit_code == 0);
  CHECK(for_prefix.output.ends_with(
      "\nThere is no jupyter in " + prefix +
      "/bin; pip install jupyterlab installs it there, and a Jupyter in another place finds the "
      "kernel with JUPYTER_PATH=" +
      prefix + "/share/jupyter\n"));
}

TEST_CASE("notebook install refuses what it cannot do, and leaves no kernel behind") {
  Installation installation;
  auto prefix = installation.path() / "venv";
  auto refusal = [&](const tests::Result& result) {
    CHECK(result.exit_code != 0);
    CHECK_FALSE(fs::exists(kernel_below(prefix / "share/jupyter") / "kernel.json"));
    return result.errors;
  };
  auto contains = [](const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; };
  CHECK(
      contains(refusal(installation.install({"--user", "--prefix", prefix})), "exclude each other; give one of them"));
  CHECK(
      contains(refusal(run({ACCELERATE_COMMAND, "notebook", "remove"})), "the action is 'remove'; it can be install"));
  CHECK(contains(refusal(installation.install({"--prefix", prefix}, {{"PATH", "/nowhere"}})),
                 "clang++-19 was not found; the kernel needs it: apt-get install clang-19"));
  CHECK(contains(refusal(installation.install({"--prefix", prefix}, {{"BROKEN_HEADERS", "1"}})),
                 "a compiler was here\n"));
  Installation without_kernel(/*with_kernel=*/false);
  CHECK(contains(refusal(without_kernel.install({"--prefix", prefix})),
                 "accelerate-kernel is missing: this installation was built without ACCELERATE_NOTEBOOK"));
}

TEST_CASE("notebook install notices a file that it cannot write") {
  Installation installation;
  auto prefix = installation.path() / "venv";
  auto blocked = kernel_below(prefix / "share/jupyter") / "prelude.h";
  fs::create_directories(blocked);  // where the file belongs
  auto done = installation.install({"--prefix", prefix});
  CHECK(done.exit_code != 0);
  CHECK_MESSAGE(done.errors.find(blocked.string()) != std::string::npos, done.errors);
  CHECK(done.output.find("Installed") == std::string::npos);
}
