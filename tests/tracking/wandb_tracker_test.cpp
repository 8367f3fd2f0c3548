#include "accelerate/tracking/wandb_tracker.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/read_file.h"
#include "accelerate/formats/crc32.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::tracking;
namespace fs = std::filesystem;

namespace {

uint64_t number_at(const std::string& bytes, size_t position, size_t num_bytes) {
  uint64_t number = 0;
  for (size_t i = num_bytes; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[position + i]);
  return number;
}

/// The records of a file. The test fails where a chunk crosses a block, is out of turn or has the wrong checksum.
std::vector<std::string> records_in(const std::string& file) {
  REQUIRE(file.substr(0, 7) == std::string(":W&B\xe1\xbe\0", 7));
  std::vector<std::string> records;
  bool goes_on = false;
  for (size_t at = 7; at < file.size();) {
    const auto room = 32768 - at % 32768;
    if (room < 7) {
      CHECK(file.substr(at, room) == std::string(room, '\0'));
      at += room;
      continue;
    }
    const auto size = number_at(file, at + 4, 2);
    const int kind = file[at + 6];
    REQUIRE(7 + size <= room);
    CHECK(formats::crc32(file.substr(at + 6, 1 + size)) == number_at(file, at, 4));
    CHECK(goes_on == (kind == 3 || kind == 4));
    if (!goes_on) records.emplace_back();
    records.back() += file.substr(at + 7, size);
    goes_on = kind == 2 || kind == 3;
    at += 7 + size;
  }
  CHECK_FALSE(goes_on);
  return records;
}

std::vector<std::string> records_of(const WandbTracker& tracker) {
  for (const auto& entry : fs::directory_iterator(tracker.directory())) return records_in(read_file(entry.path()));
  FAIL("no file in ", tracker.directory());
  return {};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("records of W&B are cut at the ends of blocks, wherever those fall") {
  for (size_t size : {0, 1, 32735, 32736, 32737, 32742, 32743, 32744, 32749, 32750, 32751, 65536, 100'000}) {
    INFO(size, " bytes");
    std::string file;
    std::vector<std::string> expected;
    for (int64_t number = 0; number < 3; ++number) {
      auto record = ProtobufMessage().text(9, std::string(size, static_cast<char>('a' + number)));
      file += wandb_file_bytes(file.size(), number, {record});
      expected.push_back(ProtobufMessage().integer(1, number + 1).bytes() + record.bytes());
    }
    CHECK(records_in(file) == expected);
  }
}

TEST_CASE("a run of W&B lies where its own programs look for it, with what was logged") {
  tests::TemporaryDirectory home;
  WandbTracker tracker("project", {.name = "first", .tags = {"blue"}, .dir = home.path()});
  CHECK(fs::is_empty(home.path()));
  tracker.start();
  const auto name = fs::relative(tracker.directory(), home.path()).string();
  CHECK_MESSAGE(std::regex_match(name, std::regex("wandb/offline-run-[0-9]{8}_[0-9]{6}-[0-9a-z]{8}")), name);
  CHECK(fs::exists(tracker.directory() / ("run-" + name.substr(name.size() - 8) + ".wandb")));
  CHECK(fs::equivalent(home.path() / "wandb/latest-run", tracker.directory()));
  tracker.store_init_configuration({{"lr", 0.25}});
  tracker.log({{"loss", 0.5}}, std::nullopt);
  auto records = records_of(tracker);
  REQUIRE(records.size() == 4);  // what is logged is in the summary at once
  CHECK(contains(records[1], "first"));
  CHECK(contains(records[1], "blue"));
  CHECK(contains(records[2], "0.25"));
  CHECK(contains(records[3], "loss"));
  tracker.finish();
  records = records_of(tracker);
  REQUIRE(records.size() == 6);
  CHECK(contains(records[4], "loss"));

  WandbTracker next("project", {.dir = home.path()});
  next.start();
  CHECK(fs::equivalent(home.path() / "wandb/latest-run", next.directory()));
  CHECK(std::distance(fs::directory_iterator(next.directory()), {}) == 1);
}

TEST_CASE("values of one step are one row of W&B, those without a step have the next, and steps never go back") {
  tests::TemporaryDirectory home;
  WandbTracker tracker("project", {.dir = home.path()});
  tracker.start();
  tracker.log({{"a", 1}, {"b", 0.125}}, 7);
  tracker.log({{"b", 0.25}, {"map", {{"c", 1}}}}, 7);
  tracker.log({{"d", 1}}, std::nullopt);
  CHECK(contains(tests::captured_stderr([&] { tracker.log({{"e", 1}}, 7); }), "never go back"));
  tracker.finish();

  // Two that begin the file, the summaries of two logs, their row, a summary, its row, the end.
  const auto records = records_of(tracker);
  REQUIRE(records.size() == 8);
  const auto step_field = [](int64_t step) {
    return ProtobufMessage().message(2, ProtobufMessage().integer(1, step)).bytes();
  };
  CHECK(records[4].ends_with(step_field(7)));
  CHECK(contains(records[4], "0.25"));
  CHECK_FALSE(contains(records[4], "0.125"));
  CHECK(contains(records[4], ProtobufMessage().text(2, "map").text(2, "c").bytes()));
  CHECK(records[6].ends_with(step_field(8)));
}

TEST_CASE("the environment speaks where the program is silent about a run of W&B") {
  tests::TemporaryDirectory home;
  PatchEnvironment patch{
      {"WANDB_DIR", home.path()},     {"WANDB_RUN_ID", "r1"},     {"WANDB_NAME", "of the environment"},
      {"WANDB_PROJECT", "elsewhere"}, {"WANDB_TAGS", "one,two,"}, {"WANDB_NOTES", "a note"},
      {"WANDB_MODE", "offline"}};
  WandbTracker tracker("project", {.name = "of the program"});
  tracker.start();
  CHECK(tracker.directory().parent_path() == home.path() / "wandb");
  CHECK(fs::exists(tracker.directory() / "run-r1.wandb"));
  const auto run = records_of(tracker).at(1);
  for (auto part : {"project", "of the program", "one", "two", "a note"}) CHECK_MESSAGE(contains(run, part), part);
  CHECK_FALSE(contains(run, "elsewhere"));
  CHECK_FALSE(contains(run, "of the environment"));
}

TEST_CASE("bytes that are no UTF-8 do not spoil a run of W&B: readers refuse a record that has them") {
  tests::TemporaryDirectory home;
  WandbTracker tracker("project \xff", {.name = "name \xc3",
                                        .group = "group \xff",
                                        .job_type = "job \xff",
                                        .tags = {"tag \xff"},
                                        .notes = "notes \xff",
                                        .dir = home.path()});
  tracker.start();
  tracker.store_init_configuration({{"key \xff", "value \xff"}});
  tracker.log({{"loss \xff", 1}, {"map \xff", {{"part \xff", 2}}}}, 0);
  tracker.finish();
  const auto records = records_of(tracker);
  std::string all;
  for (const auto& record : records) all += record;
  for (const std::string text :
       {"project ", "name ", "group ", "job ", "tag ", "notes ", "key ", "value ", "loss ", "map ", "part "}) {
    CHECK_MESSAGE(contains(all, text + "\xEF\xBF\xBD"), text);
    CHECK_FALSE(contains(all, text + "\xff"));
  }
}

TEST_CASE("a disabled run of W&B writes nothing, and what needs a server or is no id is refused") {
  tests::TemporaryDirectory home;
  PatchEnvironment patch{{"WANDB_MODE", "disabled"}};
  WandbTracker tracker("project", {.dir = home.path()});
  tracker.start();
  tracker.store_init_configuration({{"lr", 1}});
  tracker.log({{"loss", 1}}, 0);
  tracker.finish();
  CHECK(fs::is_empty(home.path()));
  CHECK_THROWS_WITH_AS(WandbTracker("project", {.mode = "online"}), doctest::Contains("the mode is 'online'"), Error);
  CHECK_THROWS_WITH_AS(WandbTracker("project", {.id = "a/b"}), doctest::Contains("the id is 'a/b'"), Error);
}
