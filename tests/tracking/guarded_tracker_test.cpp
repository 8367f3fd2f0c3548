#include "accelerate/tracking/trackers.h"

#include <doctest/doctest.h>

#include <thread>

#include "accelerate/base/error.h"
#include "tests/support/captured_stderr.h"

using namespace accelerate;
using namespace accelerate::tracking;
using std::chrono::milliseconds;

namespace {

/// A tracker whose server can be switched off.
struct Flaky : Tracker {
  std::string name() const override { return "flaky"; }
  void start() override { visit("start"); }
  void store_init_configuration(const Values& config) override { visit("config " + to_json(config)); }
  void log(const Values& values, std::optional<int64_t> step) override { visit("log " + to_json(values)); }
  void finish() override { visit("finish"); }

  void visit(const std::string& call) {
    ++num_visits;
    if (broken) fail("no answer from the server");
    calls.push_back(call);
  }

  bool broken = false;
  int num_visits = 0;
  std::vector<std::string> calls;
};

using Calls = std::vector<std::string>;

int count(const std::string& text, const std::string& word) {
  int number = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++number;
  return number;
}

}  // namespace

TEST_CASE("a tracker that works is passed everything, and is started first") {
  auto tracker = std::make_shared<Flaky>();
  GuardedTracker guarded(tracker);
  guarded.store_init_configuration({{"lr", 1}});
  guarded.log({{"loss", 2}}, 0);
  guarded.finish();
  CHECK(tracker->calls == Calls{"start", "config {\"lr\": 1}", "log {\"loss\": 2}", "finish"});
}

TEST_CASE("a tracker that fails costs one warning that names it and the reason") {
  auto tracker = std::make_shared<Flaky>();
  tracker->broken = true;
  auto said = tests::captured_stderr([&] {
    GuardedTracker guarded(tracker, true, milliseconds(1));
    guarded.store_init_configuration({});
    for (int step = 0; step < 5; ++step) {
      guarded.log({}, step);
      std::this_thread::sleep_for(milliseconds(3));
    }
    guarded.finish();
  });
  CHECK(count(said, "the tracker 'flaky' failed: no answer from the server") == 1);
  CHECK(count(said, "6 calls of this run did not reach the tracker 'flaky'") == 1);
}

TEST_CASE("a tracker that failed is left in peace, and later told the configuration it missed") {
  auto tracker = std::make_shared<Flaky>();
  tracker->broken = true;
  tests::captured_stderr([&] {
    GuardedTracker guarded(tracker, true, milliseconds(2000));
    guarded.store_init_configuration({{"lr", 1}});
    for (int step = 0; step < 1000; ++step) guarded.log({}, step);
    CHECK(tracker->num_visits == 1);
    tracker->broken = false;
    std::this_thread::sleep_for(milliseconds(2100));
    guarded.log({{"loss", 2}}, 1000);
  });
  CHECK(tracker->calls == Calls{"start", "config {\"lr\": 1}", "log {\"loss\": 2}"});
}

TEST_CASE("a configuration that the tracker does not take costs a warning, and none of the metrics") {
  struct Choosy : Flaky {
    void store_init_configuration(const Values&) override {
      ++num_visits;
      fail("lr was something else");
    }
  };
  auto tracker = std::make_shared<Choosy>();
  auto said = tests::captured_stderr([&] {
    GuardedTracker guarded(tracker, true, milliseconds(10'000));
    guarded.store_init_configuration({{"lr", 1}});
    for (int step = 0; step < 3; ++step) guarded.log({{"loss", step}}, step);
    CHECK(tracker->num_visits == 5);  // start, configuration, and the metrics
    guarded.finish();
  });
  CHECK(tracker->calls == Calls{"start", "log {\"loss\": 0}", "log {\"loss\": 1}", "log {\"loss\": 2}", "finish"});
  CHECK(count(said, "the tracker 'flaky' rejected the configuration: lr was something else") == 1);
  CHECK(count(said, "did not reach") == 0);
}

TEST_CASE("what is thrown may be anything") {
  struct Odd : Flaky {
    void start() override { throw 7; }
  };
  auto said = tests::captured_stderr([] { GuardedTracker(std::make_shared<Odd>()).log({}, 0); });
  CHECK(count(said, "the tracker 'flaky' failed") == 1);
}

TEST_CASE("an inactive tracker is never called") {
  auto tracker = std::make_shared<Flaky>();
  GuardedTracker guarded(tracker, /*active=*/false);
  guarded.store_init_configuration({{"lr", 1}});
  guarded.log({}, 0);
  guarded.finish();
  CHECK(tracker->num_visits == 0);
}
