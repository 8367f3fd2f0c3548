#include "accelerate/tracking/file_trackers.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::tracking;
using nlohmann::json;

namespace {

std::vector<json> lines_of(const tests::TemporaryDirectory& directory) {
  std::vector<json> lines;
  std::istringstream text(directory.read("metrics.jsonl"));
  for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
  return lines;
}

}  // namespace

TEST_CASE("every log is a line with its step and time") {
  tests::TemporaryDirectory directory;
  JsonlTracker tracker(directory.path());
  tracker.start();
  tracker.store_init_configuration({{"lr", 0.1}, {"optimizer", {{"name", "adamw"}}}});
  tracker.log({{"loss", 0.5}, {"note", "first"}}, 0);
  tracker.log({{"loss", 0.25}}, std::nullopt);

  auto lines = lines_of(directory);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["step"] == 0);
  CHECK(lines[0]["time"] > 1.7e9);
  CHECK(lines[0]["loss"] == 0.5);
  CHECK(lines[0]["note"] == "first");
  CHECK_FALSE(lines[1].contains("step"));
  CHECK(json::parse(directory.read("config.json")) == json{{"lr", 0.1}, {"optimizer", {{"name", "adamw"}}}});
}

TEST_CASE("a line has each name once, also where a value is called time") {
  tests::TemporaryDirectory directory;
  JsonlTracker tracker(directory.path());
  tracker.start();
  tracker.log({{"time", 3.5}, {"step", 7}}, 1);
  const auto line = lines_of(directory).front();
  CHECK(line["step"] == 1);
  CHECK(line["time"] > 1.7e9);
  CHECK(line["metric/time"] == 3.5);
  CHECK(line["metric/step"] == 7);
}

TEST_CASE("a limit on the size of files is named, and leaves whole lines") {
  tests::TemporaryDirectory directory;
  JsonlTracker tracker(directory.path());
  tracker.start();
  tracker.log({{"loss", 1}}, 0);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{.rlim_cur = directory.read("metrics.jsonl").size() + 5, .rlim_max = before.rlim_max};
  for (int step : {1, 2}) {
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    ScopeExit restore([&] { setrlimit(RLIMIT_FSIZE, &before); });
    CHECK_THROWS_WITH_AS(tracker.log({{"loss", 2}}, step), doctest::Contains("raise it with ulimit -f"), Error);
  }
  CHECK(lines_of(directory).size() == 1);
}

TEST_CASE("all lines are there after the process is killed") {
  tests::TemporaryDirectory directory;
  pid_t child = fork();
  if (child == 0) {
    JsonlTracker tracker(directory.path());
    tracker.start();
    for (int step = 0; step < 100; ++step) tracker.log({{"loss", 1.0 / (step + 1)}}, step);
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  auto lines = lines_of(directory);
  REQUIRE(lines.size() == 100);
  CHECK(lines[99]["loss"] == 0.01);
}

TEST_CASE("a resumed run goes on after the last whole line") {
  tests::TemporaryDirectory directory;
  directory.write("metrics.jsonl", "{\"step\": 0, \"loss\": 2}\n{\"step\": 1, \"lo");
  JsonlTracker tracker(directory.path());
  tracker.start();
  tracker.log({{"loss", 1}}, 1);
  auto lines = lines_of(directory);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["loss"] == 2);
  CHECK(lines[1]["loss"] == 1);
}

TEST_CASE("a file where the directory should be is named in the error") {
  tests::TemporaryDirectory directory;
  auto file = directory.write("runs", "not a directory");
  JsonlTracker tracker(directory.path() / "runs" / "bert");
  CHECK_THROWS_WITH_AS(tracker.start(), doctest::Contains(file.c_str()), Error);
}
