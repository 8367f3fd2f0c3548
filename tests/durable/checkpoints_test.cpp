#include "accelerate/durable/checkpoints.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/durable/verify.h"
#include "tests/durable/saved_directory.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::durable;
using tests::Program;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

void save_number(const CheckpointDirectory& checkpoints, int64_t number) {
  auto stage = checkpoints.stage(number);
  tests::fill_and_commit(stage, std::to_string(number));
}

std::vector<int64_t> numbers_in(const fs::path& directory) {
  std::vector<int64_t> numbers;
  for (const auto& checkpoint : list_checkpoints(directory)) numbers.push_back(checkpoint.number);
  return numbers;
}

}  // namespace

TEST_CASE("numbers are compared as numbers") {
  TemporaryDirectory home;
  CHECK_FALSE(newest_checkpoint(home.path() / "checkpoints"));
  CheckpointDirectory checkpoints(home.path() / "checkpoints");
  CHECK(next_number(home.path() / "checkpoints") == 0);
  for (int64_t number : {9, 10, 2}) save_number(checkpoints, number);
  CHECK(numbers_in(home.path() / "checkpoints") == std::vector<int64_t>{2, 9, 10});
  CHECK(newest_checkpoint(home.path() / "checkpoints")->number == 10);
  CHECK(newest_checkpoint(home.path() / "checkpoints", 9)->number == 9);
  CHECK(newest_checkpoint(home.path() / "checkpoints", 8)->number == 2);
  CHECK_FALSE(newest_checkpoint(home.path() / "checkpoints", 1));
  CHECK(next_number(home.path() / "checkpoints") == 11);
}

TEST_CASE("a checkpoint of another release is an error, and not a reason to begin anew") {
  TemporaryDirectory home;
  const auto directory = home.path() / "checkpoints";
  CheckpointDirectory checkpoints(directory);
  for (int64_t number : {0, 1, 2}) save_number(checkpoints, number);
  const auto write_version = [&](const std::string& version) {
    auto text = home.read("checkpoints/checkpoint_1/manifest.json");
    text.replace(text.find("\"version\": ") + 11, 1, version);
    home.write("checkpoints/checkpoint_1/manifest.json", text);
  };
  for (auto version : {"1", "3"}) {
    write_version(version);
    CHECK(newest_checkpoint(directory)->number == 2);
    const auto expected = "checkpoint_1/manifest.json: this manifest cannot be used: it has version " +
                          std::string(version) + " and this release supports 2; load the checkpoint with the release";
    CHECK_THROWS_WITH_AS(newest_checkpoint(directory, 1), doctest::Contains(expected.c_str()), Error);
    CHECK_FALSE(is_complete(directory / "checkpoint_1"));
  }
  checkpoints.prune(1);  // what this release cannot judge stays
  CHECK(numbers_in(directory) == std::vector<int64_t>{1, 2});
}

TEST_CASE("other names are no checkpoints") {
  TemporaryDirectory home;
  for (auto name : {"checkpoint_", "checkpoint_x", "checkpoint_1b", "checkpoint_01", "checkpoint_-1", "my_checkpoint_1",
                    "checkpoint_99999999999999999999"}) {
    home.write(std::string(name) + "/model.safetensors", "x");
  }
  CHECK(list_checkpoints(home.path()).empty());
}

TEST_CASE("nothing but checkpoints is in the directory, also while one is saved, because Python expects that") {
  TemporaryDirectory home;
  CheckpointDirectory checkpoints(home.path() / "checkpoints");
  auto stage = checkpoints.stage(0);
  CHECK(fs::is_empty(home.path() / "checkpoints"));
  tests::fill_and_commit(stage, "0");
  CHECK(std::distance(fs::directory_iterator(home.path() / "checkpoints"), {}) == 1);
}

TEST_CASE("a number that exists is refused, naming the next one that is free") {
  TemporaryDirectory home;
  CheckpointDirectory checkpoints(home.path());
  save_number(checkpoints, 4);
  CHECK_THROWS_WITH_AS(checkpoints.stage(4), doctest::Contains("checkpoint_4: already exists; continue with number 5"),
                       Error);
}

TEST_CASE("the newest complete checkpoint is found, and those passed over are named") {
  TemporaryDirectory home;
  CheckpointDirectory checkpoints(home.path());
  for (int64_t number : {0, 1, 2, 3}) save_number(checkpoints, number);
  fs::resize_file(home.path() / "checkpoint_2/optimizer.bin", 1);
  fs::remove(home.path() / "checkpoint_3/model.safetensors");
  fs::create_directory(home.path() / "checkpoint_4");
  std::optional<NumberedCheckpoint> newest;
  auto warnings = tests::captured_stderr([&] { newest = newest_checkpoint(home.path()); });
  CHECK(newest->number == 1);
  for (auto name : {"checkpoint_2", "checkpoint_3", "checkpoint_4"}) CHECK(warnings.find(name) != std::string::npos);
  CHECK(warnings.find("checkpoint_1") == std::string::npos);
}

TEST_CASE("a folder of Python, without a manifest, counts") {
  TemporaryDirectory home;
  home.write("checkpoint_7/model.safetensors", "of Python");
  CHECK(newest_checkpoint(home.path())->number == 7);
  CHECK(next_number(home.path()) == 8);
}

TEST_CASE("the limit keeps the highest numbers and touches nothing that is not complete") {
  TemporaryDirectory home;
  CheckpointDirectory checkpoints(home.path());
  for (int64_t number = 0; number < 11; ++number) save_number(checkpoints, number);
  fs::remove(home.path() / "checkpoint_0/model.safetensors");
  CHECK(checkpoints.prune(2) == 8);
  CHECK(numbers_in(home.path()) == std::vector<int64_t>{0, 9, 10});
  CHECK(checkpoints.prune(2) == 0);
}

TEST_CASE(
    "another job in the same directory is refused, with process and host of the first; afterwards it is welcome") {
  TemporaryDirectory home;
  auto directory = (home.path() / "checkpoints").string();
  std::vector<std::string> job = {SAVING_PROGRAM, "numbered", directory, "1", "1", "1"};
  {
    CheckpointDirectory checkpoints(directory);
    Program second(job);
    CHECK(second.wait() == 1);
    auto message = second.errors();
    CHECK_MESSAGE(message.find(directory + ": process " + std::to_string(getpid()) + " on ") == 0, message);
    CHECK(message.find("choose another directory") != std::string::npos);
  }
  CHECK(Program(job).wait() == 0);
}

TEST_CASE("two users of a directory in one process share its lock") {
  TemporaryDirectory home;
  CheckpointDirectory first(home.path()), second(home.path() / ".");
  save_number(first, 0);
  save_number(second, 1);
  CHECK(newest_checkpoint(home.path())->number == 1);
}
