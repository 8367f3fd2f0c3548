#include "accelerate/durable/stage.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "accelerate/base/error.h"
#include "accelerate/base/host_name.h"
#include "accelerate/base/scope.h"
#include "accelerate/durable/manifest.h"
#include "accelerate/durable/staging_directory.h"
#include "accelerate/durable/verify.h"
#include "tests/durable/saved_directory.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::durable;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

std::set<std::string> names_in(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename());
  return names;
}

}  // namespace

TEST_CASE(
    "a committed stage is under its name with everything that ranks and hooks wrote, and nothing is left beside it") {
  TemporaryDirectory home;
  Stage stage(home.path() / "runs" / "step_100");
  CHECK_FALSE(fs::exists(stage.target()));
  tests::write_into(stage, "unet/config.json", "from a hook");
  tests::fill_and_commit(stage, "one");

  auto manifest = verify(home.path() / "runs" / "step_100");
  REQUIRE(manifest);
  REQUIRE(manifest->files.size() == 3);
  CHECK(manifest->files[0].name == "model.safetensors");
  CHECK(manifest->files[1].name == "optimizer.bin");
  CHECK(manifest->files[1].bytes == 6);
  CHECK(manifest->files[2].name == "unet/config.json");
  CHECK(manifest->metadata.at("step") == "one");
}

TEST_CASE("the place where a stage was made goes away with it") {
  TemporaryDirectory home;
  tests::save(home.path() / "state", "one");
  CHECK(names_in(home.path()) == std::set<std::string>{"state"});
  {
    Stage abandoned(home.path() / "other");
  }
  CHECK(names_in(home.path()) == std::set<std::string>{"state"});
}

TEST_CASE("without a commit the directory stays as it was") {
  TemporaryDirectory home;
  tests::save(home.path() / "state", "one");
  {
    Stage stage(home.path() / "state");
    tests::write_into(stage, "model.safetensors", "half");
  }
  CHECK(home.read("state/model.safetensors") == "one");
  CHECK(verify(home.path() / "state"));
}

TEST_CASE("saving to a directory that is there replaces what was saved, and keeps what is the user's") {
  TemporaryDirectory home;
  {
    Stage stage(home.path() / "state");
    tests::write_into(stage, "random_states_3.pkl", "of a rank that is no more");
    tests::write_into(stage, "hook/old.txt", "old");
    tests::fill_and_commit(stage, "one");
  }
  home.write("state/notes.txt", "mine");
  home.write("state/logs/events", "mine too");
  tests::save(home.path() / "state", "two");
  CHECK(names_in(home.path() / "state") ==
        std::set<std::string>{"model.safetensors", "optimizer.bin", "manifest.json", "notes.txt", "logs"});
  CHECK(home.read("state/model.safetensors") == "two");
  CHECK(home.read("state/notes.txt") == "mine");
  CHECK(home.read("state/logs/events") == "mine too");
  CHECK(names_in(home.path()) == std::set<std::string>{"state"});
}

TEST_CASE("a directory of Python, without a manifest, is overwritten file by file as Python does it") {
  TemporaryDirectory home;
  home.write("state/model.safetensors", "of Python");
  home.write("state/sampler.bin", "of Python");
  tests::save(home.path() / "state", "two");
  CHECK(home.read("state/model.safetensors") == "two");
  CHECK(home.read("state/sampler.bin") == "of Python");
  CHECK(verify(home.path() / "state"));
}

TEST_CASE("a link to a directory stays a link, and the directory behind it is replaced") {
  TemporaryDirectory home;
  tests::save(home.path() / "step_1", "one");
  fs::create_directory_symlink("step_1", home.path() / "latest");
  tests::save(home.path() / "latest", "two");
  CHECK(fs::is_symlink(home.path() / "latest"));
  CHECK(home.read("step_1/model.safetensors") == "two");
}

TEST_CASE("modes follow the umask, and a directory that is replaced hands on its own") {
  TemporaryDirectory home;
  auto mode_of = [](const fs::path& path) { return static_cast<int>(fs::status(path).permissions()); };
  auto before = umask(0027);
  tests::save(home.path() / "state", "one");
  umask(before);
  CHECK(mode_of(home.path() / "state") == 0750);
  CHECK(mode_of(home.path() / "state/manifest.json") == 0640);
  chmod((home.path() / "state").c_str(), 0770);
  tests::save(home.path() / "state", "two");
  CHECK(mode_of(home.path() / "state") == 0770);
}

TEST_CASE("a second stage of the same directory is refused while the first one lives") {
  TemporaryDirectory home;
  Stage stage(home.path() / "state");
  CHECK_THROWS_WITH_AS(Stage(home.path() / "state"), doctest::Contains("this process is already saving here"), Error);
}

TEST_CASE("another job is told which process on which host saves to the directory") {
  TemporaryDirectory home;
  Stage stage(home.path() / "state");
  tests::Program other({SAVING_PROGRAM, "overwrite", stage.target(), "1", "1", "1"});
  CHECK(other.wait() == 1);
  auto expected = stage.target().string() + ": process " + std::to_string(getpid()) + " on ";
  CHECK_MESSAGE(other.errors().starts_with(expected), other.errors());
}

TEST_CASE("what a killed job has left of another directory goes with the next save beside it") {
  TemporaryDirectory home;
  const auto leftover = home.path() / ".step_1000.saving";
  home.write(".step_1000.saving/step_1000.17.new/model.safetensors", "half");
  const auto host = host_name();
  SUBCASE("of a process that is gone") {
    home.write(".step_1000.saving/lock", "process 17 on " + host);
    home.write(".step_1000.saving/step_1000.old/model.safetensors", "whole");
    tests::save(home.path() / "step_2000", "one");
    CHECK(home.read("step_1000/model.safetensors") == "whole");
    CHECK(names_in(home.path()) == std::set<std::string>{"step_1000", "step_2000"});
  }
  SUBCASE("but not of one of another machine") {
    home.write(".step_1000.saving/lock", "process 17 on another-" + host + "-than-this");
    tests::save(home.path() / "step_2000", "one");
    CHECK(fs::exists(leftover / "step_1000.17.new"));
  }
  SUBCASE("nor of one that lives") {
    Stage stage(home.path() / "step_3000");
    tests::write_into(stage, "model.safetensors", "half");
    tests::save(home.path() / "step_2000", "one");
    CHECK(fs::exists(stage.path() / "model.safetensors"));
  }
}

TEST_CASE("files of the user that a killed save has not handed on come back with the next save beside it, or load") {
  TemporaryDirectory home;
  tests::save(home.path() / "best", "two");
  // As after a kill between the exchange of both directories and the end of the old one.
  home.write(".best.saving/best.old/manifest.json", encode_manifest({.files = {{.name = "model.safetensors"}}}));
  home.write(".best.saving/best.old/model.safetensors", "one");
  home.write(".best.saving/best.old/notes.txt", "mine");
  const auto gone = "process 17 on " + host_name();
  const auto check = [&](const std::set<std::string>& names) {
    CHECK(names_in(home.path()) == names);
    CHECK(home.read("best/model.safetensors") == "two");
    CHECK(home.read("best/notes.txt") == "mine");
  };
  SUBCASE("save") {
    home.write(".best.saving/lock", gone);
    tests::save(home.path() / "other", "one");
    check({"best", "other"});
  }
  SUBCASE("load") {
    home.write(".best.saving/lock", gone);
    CHECK(verify(home.path() / "best"));
    check({"best"});
  }
  SUBCASE("load, where there is no lock any more") {
    CHECK(verify(home.path() / "best"));
    check({"best"});
  }
  SUBCASE("but not while another one has it") {
    home.write(".best.saving/lock", "process 17 on another-" + host_name() + "-than-this");
    CHECK(verify(home.path() / "best"));
    CHECK_FALSE(fs::exists(home.path() / "best/notes.txt"));
  }
}

TEST_CASE("what cannot be ended stays with its lock, so that the next save tries it again") {
  TemporaryDirectory home;
  tests::save(home.path() / "best", "two");
  home.write(".best.saving/lock", "process 17 on " + host_name());
  home.write(".best.saving/best.old/notes.txt", "mine");
  chmod((home.path() / "best").c_str(), 0555);
  const bool is_root = geteuid() == 0;
  if (is_root) {
    chmod(home.path().c_str(), 0777);
    for (const auto& entry : fs::recursive_directory_iterator(home.path())) {
      if (entry.path() != home.path() / "best") REQUIRE(chown(entry.path().c_str(), 65534, 65534) == 0);
    }
    REQUIRE(seteuid(65534) == 0);
  }
  ScopeExit become_root([&] {
    if (is_root) seteuid(0);
  });
  tests::save(home.path() / "other", "one");
  CHECK(home.read(".best.saving/best.old/notes.txt") == "mine");
  CHECK(is_abandoned(home.path() / ".best.saving"));
  CHECK(verify(home.path() / "best"));  // with a warning
  CHECK(home.read(".best.saving/best.old/notes.txt") == "mine");
  if (is_root) REQUIRE(seteuid(0) == 0);
  chmod((home.path() / "best").c_str(), 0755);
  tests::save(home.path() / "other", "two");
  CHECK(home.read("best/notes.txt") == "mine");
  CHECK(names_in(home.path()) == std::set<std::string>{"best", "other"});
}

TEST_CASE("what cannot be a checkpoint is refused before anything is written") {
  TemporaryDirectory home;
  auto file = home.write("file", "text");
  CHECK_THROWS_WITH_AS(Stage{file}, doctest::Contains("is a file"), Error);
  CHECK_THROWS_WITH_AS(Stage{"/"}, doctest::Contains("choose a directory below it"), Error);
  CHECK_THROWS_WITH_AS(Stage{fs::current_path()}, doctest::Contains("current directory"), Error);
  CHECK_THROWS_WITH_AS(Stage{"/proc"}, doctest::Contains("mount point"), Error);
  CHECK_THROWS_WITH_AS(Stage{fs::path(file) / "state"}, doctest::Contains("file: cannot be created: File exists"),
                       Error);
}

TEST_CASE("a directory that may not be written to is named, with the user who may not") {
  TemporaryDirectory home;
  fs::create_directory(home.path() / "runs");
  chmod(home.path().c_str(), 0755);
  chmod((home.path() / "runs").c_str(), 0555);
  const bool is_root = geteuid() == 0;
  if (is_root) REQUIRE(seteuid(65534) == 0);
  ScopeExit become_root([&] {
    if (is_root) seteuid(0);
  });
  auto expected = (home.path() / "runs/.state.saving").string() + ": cannot be created: Permission denied; give user " +
                  std::to_string(geteuid());
  CHECK_THROWS_WITH_AS(Stage(home.path() / "runs" / "state"), doctest::Contains(expected.c_str()), Error);
}

TEST_CASE("a file that a rank reports and nobody sees stops the commit") {
  TemporaryDirectory home;
  tests::save(home.path() / "state", "one");
  {
    Stage stage(home.path() / "state");
    tests::write_into(stage, "model.safetensors", "two");
    CHECK_THROWS_WITH_AS(stage.commit({{.name = "random_states_1.pkl", .bytes = 3, .checksum = 1}}),
                         doctest::Contains("random_states_1.pkl"), Error);
  }
  CHECK(home.read("state/model.safetensors") == "one");
}
