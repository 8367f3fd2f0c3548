#include "accelerate/profile.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>
#include <set>

#include <torch/types.h>

#include "accelerate/accelerator.h"
#include "accelerate/base/error.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/failure_of.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using nlohmann::json;

namespace {

/// The names of the events of a trace, in no order.
std::multiset<std::string> names_in(const std::string& trace) {
  std::multiset<std::string> names;
  auto document = json::parse(trace);
  for (const auto& event : document.at("traceEvents")) names.insert(event.value("name", ""));
  return names;
}

}  // namespace

TEST_CASE("the schedule is that of torch.profiler") {
  auto actions = [](const ProfileSchedule& schedule, int num_steps) {
    std::string text;
    for (int step = 0; step < num_steps; ++step) text += "-wrS"[static_cast<int>(profile_action(schedule, step))];
    return text;
  };
  CHECK(actions({.wait = 1, .warmup = 1, .active = 2}, 9) == "-wrS-wrS-");
  CHECK(actions({.wait = 1, .warmup = 1, .active = 2, .repeat = 1}, 9) == "-wrS-----");
  CHECK(actions({.active = 1, .skip_first = 3}, 5) == "---SS");
  CHECK(actions({.warmup = 2, .active = 3, .repeat = 2, .skip_first = 1}, 12) == "-wwrrSwwrrS-");
}

TEST_CASE("every rank leaves a trace of what it computed") {
  tests::TemporaryDirectory directory;
  tests::run_ranks(2, [&](comm::Group&) {
    Accelerator accelerator({.profile = {.record_shapes = true, .output_trace_dir = directory.path() / "traces"}});
    {
      auto profile = accelerator.profile();
      torch::matmul(torch::ones({8, 8}), torch::ones({8, 8}));
      profile.finish();
    }
    // finish() waits for the traces of all ranks.
    CHECK(std::filesystem::exists(directory.path() / "traces/profile_0.json"));
    CHECK(std::filesystem::exists(directory.path() / "traces/profile_1.json"));
    accelerator.end_training();
  });
  for (const char* name : {"traces/profile_0.json", "traces/profile_1.json"}) {
    CHECK(names_in(directory.read(name)).count("aten::matmul") == 1);
  }
}

TEST_CASE("with a schedule only the active steps are in the trace") {
  tests::TemporaryDirectory directory;
  Accelerator accelerator;
  int num_traces = 0;
  auto keep = [&](Profile& profile) {
    profile.export_chrome_trace(directory.path() / ("cycle_" + std::to_string(num_traces++) + ".json"));
  };
  {
    auto profile = accelerator.profile(
        {.schedule_option = ProfileSchedule{.wait = 1, .warmup = 1, .active = 2, .repeat = 2}, .on_trace_ready = keep});
    for (int step = 0; step < 10; ++step) {
      torch::matmul(torch::ones({8, 8}), torch::ones({8, 8}));
      profile.step();
    }
    CHECK(profile.step_num() == 10);
    profile.finish();
  }
  REQUIRE(num_traces == 2);
  auto first = names_in(directory.read("cycle_0.json"));
  CHECK(first.count("aten::matmul") == 2);
  CHECK(first.count("ProfilerStep#2") == 1);
  CHECK(first.count("ProfilerStep#3") == 1);
  CHECK(first.count("ProfilerStep#4") == 0);
  CHECK(names_in(directory.read("cycle_1.json")).count("ProfilerStep#6") == 1);
}

TEST_CASE("a scope that ends in the warm-up, or by an exception, leaves the profiler ready for the next") {
  tests::TemporaryDirectory directory;
  Accelerator accelerator;
  {
    auto profile = accelerator.profile({.schedule_option = ProfileSchedule{.warmup = 3, .active = 1}});
  }
  try {
    auto profile = accelerator.profile({.output_trace_dir = directory.path()});
    fail("the training fails");
  } catch (const Error&) {
  }
  CHECK_FALSE(std::filesystem::exists(directory.path() / "profile_0.json"));
  {
    auto profile = accelerator.profile({.output_trace_dir = directory.path()});
    torch::matmul(torch::ones({8, 8}), torch::ones({8, 8}));
  }
  CHECK(names_in(directory.read("profile_0.json")).count("aten::matmul") == 1);
}

TEST_CASE("a trace that cannot be written whole is an error, and one of an earlier run is not taken for it") {
  tests::TemporaryDirectory directory;
  directory.write("trace.json", R"({"traceEvents": [], "traceName": "of an earlier run"})");
  Accelerator accelerator;
  std::string error;
  auto keep = [&](Profile& profile) {
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    error = tests::failure_of([&] { profile.export_chrome_trace(directory.path() / "trace.json"); });
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_THROWS_WITH_AS(profile.export_chrome_trace(directory.path() / "again.json"),
                         doctest::Contains("again.json: cannot be written: Trace is already saved"), Error);
  };
  {
    auto profile = accelerator.profile({.on_trace_ready = keep});
    torch::matmul(torch::ones({8, 8}), torch::ones({8, 8}));
  }
  CHECK_MESSAGE(error.find("trace.json: the trace ends after ") != std::string::npos, error);
}

TEST_CASE("a trace that on_trace_ready has written is there when the scope ends, under whichever name") {
  for (const char* name : {"profile_0.json", "mine.json"}) {
    tests::TemporaryDirectory directory;
    directory.write("profile_0.json", "of an earlier run");
    {
      Accelerator accelerator;
      auto keep = [&](Profile& profile) { profile.export_chrome_trace(directory.path() / name); };
      auto profile = accelerator.profile({.on_trace_ready = keep, .output_trace_dir = directory.path()});
      torch::matmul(torch::ones({8, 8}), torch::ones({8, 8}));
    }
    CHECK(names_in(directory.read("profile_0.json")).count("aten::matmul") == 1);
    CHECK(names_in(directory.read(name)).count("aten::matmul") == 1);
  }
}

TEST_CASE("a rank that cannot write its trace says so, and the others have theirs") {
  tests::TemporaryDirectory directory;
  directory.write("profile_1.json/in the way", "a directory");
  tests::run_ranks(2, [&](comm::Group& group) {
    Accelerator accelerator;
    const auto error = tests::failure_of([&] {
      auto profile = accelerator.profile({.output_trace_dir = directory.path()});
      torch::matmul(torch::ones({8, 8}), torch::ones({8, 8}));
      profile.finish();
    });
    CHECK_MESSAGE(error.empty() == (group.rank() == 0), error);
    if (group.rank() == 1) CHECK_MESSAGE(error.find("profile_1.json") != std::string::npos, error);
    CHECK(group.all_gather_bytes("here").size() == 2);  // no rank was left in the middle of something
  });
  CHECK(names_in(directory.read("profile_0.json")).count("aten::matmul") == 1);
}

TEST_CASE("without finish() a trace that cannot be written is a warning, and no rank waits for another") {
  tests::TemporaryDirectory directory;
  directory.write("profile_1.json/in the way", "a directory");
  tests::run_ranks(2, [&](comm::Group& group) {
    Accelerator accelerator;
    const auto said = tests::captured_stderr([&] {
      auto profile = accelerator.profile({.output_trace_dir = directory.path()});
      torch::matmul(torch::ones({8, 8}), torch::ones({8, 8}));
    });
    const bool warned = said.find("the profile could not be finished: ") != std::string::npos;
    CHECK_MESSAGE(warned == (group.rank() == 1), said);
  });
  CHECK(names_in(directory.read("profile_0.json")).count("aten::matmul") == 1);
}

TEST_CASE("a schedule whose steps do not come is told") {
  tests::TemporaryDirectory directory;
  const auto said = tests::captured_stderr([&] {
    Accelerator accelerator;
    auto profile =
        accelerator.profile({.schedule_option = ProfileSchedule{.wait = 10}, .output_trace_dir = directory.path()});
    for (int step = 0; step < 5; ++step) profile.step();
    profile.finish();
  });
  CHECK_MESSAGE(said.find("the schedule records from step 10 on, and there were 5 calls") != std::string::npos, said);
}

TEST_CASE("mistakes about profiling are told at once") {
  Accelerator accelerator;
  CHECK_THROWS_WITH_AS(accelerator.profile({.activities = {"gpu"}}), doctest::Contains("the activity 'gpu' is unknown"),
                       Error);
  CHECK_THROWS_WITH_AS(accelerator.profile({.schedule_option = ProfileSchedule{.active = 0}}),
                       doctest::Contains("active must be at least 1"), Error);
  auto profile = accelerator.profile({.schedule_option = ProfileSchedule{.wait = 5}});
  CHECK_THROWS_WITH_AS(profile.export_chrome_trace("trace.json"), doctest::Contains("no finished recording"), Error);
}
