#include "accelerate/key_averages.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "accelerate/accelerator.h"
#include "accelerate/base/error.h"
#include "tests/parity/recorded.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

FunctionEvent event_of(const json& event) {
  return {.name = event.at("name"),
          .thread = event.at("thread"),
          .start_us = event.at("start_us"),
          .end_us = event.at("end_us"),
          .is_async = event.at("is_async"),
          .cpu_memory_usage = event.at("cpu_memory_usage"),
          .flops = event.at("flops"),
          .input_shapes = event.at("input_shapes")};
}

ProfileTableOptions options_of(const json& options) {
  ProfileTableOptions result;
  result.sort_by = options.value("sort_by", "");
  result.row_limit = options.value("row_limit", result.row_limit);
  if (options.contains("header")) result.header = options.at("header");
  result.max_name_column_width = options.value("max_name_column_width", result.max_name_column_width);
  result.top_level_events_only = options.value("top_level_events_only", false);
  result.time_unit = options.value("time_unit", "");
  return result;
}

void compute() {
  auto x = torch::ones({8, 16}), w = torch::ones({16, 4}, torch::requires_grad());
  torch::Tensor loss;
  for (int i = 0; i < 3; ++i) loss = torch::matmul(x, w).relu().sum();
  loss.backward(torch::ones({}));
  auto y = torch::ones({5});
  torch::add(y, y).mul_(y);
}

}  // namespace

TEST_CASE("the table of made-up calls is Python's to the letter") {
  const auto reference = recorded("key_averages");
  for (const auto& list : reference.at("made up")) {
    std::vector<FunctionEvent> events;
    for (const auto& event : list.at("events")) events.push_back(event_of(event));
    const KeyAverages averages(events, {}, /*profile_memory=*/true, /*with_flops=*/true);
    for (const auto& [name, options] : reference.at("options").items()) {
      CAPTURE(name);
      CHECK(averages.table(options_of(options)) == list.at("tables").at(name));
    }
    const KeyAverages by_shapes(events, {.group_by_input_shape = true}, true, true);
    CHECK(by_shapes.table({.sort_by = "self_cpu_memory_usage"}) == list.at("tables").at("by shapes"));
  }
  CHECK(KeyAverages({}).table() == "");
  CHECK_THROWS_WITH_AS(KeyAverages({}).table({.sort_by = "time"}), doctest::Contains("sort_by is 'time'"), Error);
  CHECK_THROWS_WITH_AS(KeyAverages({}).table({.time_unit = "h"}), doctest::Contains("time_unit is 'h'"), Error);
}

TEST_CASE("the names, counts, bytes and shapes of recorded operators are Python's") {
  const auto reference = recorded("key_averages").at("recorded");
  Accelerator accelerator;
  compute();
  auto profile = accelerator.profile({.record_shapes = true, .profile_memory = true, .with_flops = true});
  compute();
  CHECK_THROWS_WITH_AS(profile.key_averages(), doctest::Contains("call stop() first"), Error);
  profile.stop();
  CHECK_THROWS_WITH_AS(profile.step(), doctest::Contains("after stop()"), Error);

  json operators = json::object();
  double sum = 0;
  for (const auto& average : profile.key_averages()) {
    operators[average.key] = {{"count", average.count},
                              {"memory", average.cpu_memory_usage},
                              {"self memory", average.self_cpu_memory_usage},
                              {"flops", average.flops}};
    CHECK(average.cpu_time_total >= average.self_cpu_time_total);
    sum += average.self_cpu_time_total;
  }
  CHECK(sum == doctest::Approx(profile.key_averages().self_cpu_time_total()));
  auto wanted = reference.at("operators");
  // Memory that is freed between operators: Python drops its names at other moments.
  operators.erase("[memory]");
  wanted.erase("[memory]");
  CHECK(operators.dump(1) == wanted.dump(1));

  auto by_shapes = json::array();
  for (const auto& average : profile.key_averages({.group_by_input_shape = true})) {
    by_shapes.push_back({average.key, average.input_shapes, average.count});
  }
  std::sort(by_shapes.begin(), by_shapes.end());
  auto wanted_shapes = reference.at("by shapes");
  for (auto* list : {&by_shapes, &wanted_shapes}) {
    list->erase(std::remove_if(list->begin(), list->end(), [](const json& row) { return row.at(0) == "[memory]"; }),
                list->end());
  }
  CHECK(by_shapes.dump(1) == wanted_shapes.dump(1));
  CHECK(profile.key_averages().table({.sort_by = "cpu_time_total", .row_limit = 3}).find("Total FLOPs") !=
        std::string::npos);
}

}  // namespace accelerate::tests
