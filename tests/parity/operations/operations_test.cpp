// The collectives of operations/make_reference.py, done here.

#include <doctest/doctest.h>

#include <map>

#include "accelerate/accelerator.h"
#include "accelerate/operations.h"
#include "tests/parity/recorded.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

json split(const Accelerator& accelerator, int64_t size, bool padding) {
  auto numbers = torch::arange(size);
  auto table = torch::arange(2 * size).view({size, 2});
  std::vector<int64_t> list(numbers.data_ptr<int64_t>(), numbers.data_ptr<int64_t>() + size);
  auto both = accelerator.split_between_processes(
      std::map<std::string, at::Tensor>{{"numbers", numbers}, {"tensor", table}}, padding);
  return {{"size", size},
          {"padding", padding},
          {"numbers", accelerator.split_between_processes(list, padding)},
          {"tensor", as_json(accelerator.split_between_processes(table, padding))},
          {"both", {{"numbers", as_json(both["numbers"])}, {"tensor", as_json(both["tensor"])}}}};
}

std::vector<bool> triggers(Accelerator& accelerator) {
  std::vector<bool> seen{accelerator.check_trigger()};
  if (accelerator.is_last_process()) accelerator.set_trigger();
  seen.push_back(accelerator.check_trigger());
  seen.push_back(accelerator.check_trigger());
  return seen;
}

std::vector<std::string> uneven_list(int rank) {
  std::vector<std::string> items;
  for (int i = 0; i <= rank; ++i) items.push_back("rank " + std::to_string(rank) + " item " + std::to_string(i));
  return items;
}

json collectives(Accelerator& accelerator) {
  const int world_size = accelerator.num_processes(), rank = accelerator.process_index(), last = world_size - 1;
  auto mine = torch::arange(world_size, torch::kFloat) + 1 + world_size * rank;
  auto table = torch::arange(12, torch::kFloat).view({3, 4}).t() + 100 * rank;
  auto longer = torch::arange(world_size + (rank == 0)) + 1;
  auto column = torch::full({2, 1 + rank}, rank + 1.0f);
  auto nested = accelerator.gather(Batch{{"x", mine}, {"y", mine * 2}});
  std::vector<std::string> objects{"from " + std::to_string(rank), "world of " + std::to_string(world_size)};
  broadcast_object_list(objects, last);

  json results = {
      {"gather", as_json(accelerator.gather(mine))},
      {"gather_transposed", as_json(accelerator.gather(table))},
      {"gather_integers", as_json(accelerator.gather(torch::tensor({{rank, -rank}})))},
      {"gather_nested", {{"x", as_json(nested["x"])}, {"y", as_json(nested["y"])}}},
      {"gather_scalar", as_json(accelerator.gather(torch::tensor(static_cast<float>(rank))))},
      {"gather_object", accelerator.gather_object(std::vector<int64_t>{rank})},
      {"gather_object_uneven", accelerator.gather_object(uneven_list(rank))},
      {"broadcast", as_json(broadcast(mine.clone()))},
      {"broadcast_from_last", as_json(broadcast(mine.clone(), last))},
      {"broadcast_object_list", objects},
      {"pad", as_json(accelerator.pad_across_processes(longer))},
      {"pad_index", as_json(accelerator.pad_across_processes(longer, {.pad_index = -1}))},
      {"pad_first", as_json(accelerator.pad_across_processes(longer, {.pad_index = -1, .pad_first = true}))},
      {"pad_dim_1", as_json(accelerator.pad_across_processes(column, {.dim = 1}))},
      {"pad_last_dim", as_json(accelerator.pad_across_processes(column, {.dim = -1}))},
      {"pad_missing_dim", as_json(accelerator.pad_across_processes(mine, {.dim = 3}))},
      {"reduce_sum", as_json(accelerator.reduce(mine, "sum"))},
      {"reduce_mean", as_json(accelerator.reduce(mine, "mean"))},
      {"reduce_max", as_json(accelerator.reduce(mine, "max"))},
      {"reduce_sum_integers", as_json(accelerator.reduce(torch::tensor({rank + 1, 10}), "sum"))},
      {"trigger", triggers(accelerator)},
      {"split", json::array()}};
  for (int64_t size : {1, 2, 3, 4, 5, 7, 8, 17}) {
    for (bool padding : {false, true}) results["split"].push_back(split(accelerator, size, padding));
  }
  return results;
}

}  // namespace

TEST_CASE("collectives give what Accelerate's give on 1, 2 and 3 ranks") {
  const auto reference = recorded("operations");
  for (const auto& [world_size, ranks] : reference.items()) {
    CAPTURE(world_size);
    run_ranks(std::stoi(world_size), [&](comm::Group& group) {
      Accelerator accelerator({.cpu = true});
      auto results = collectives(accelerator);
      for (const auto& [name, expected] : ranks.at(group.rank()).items()) {
        CAPTURE(name);
        CHECK(results.at(name) == expected);
      }
    });
  }
}

}  // namespace accelerate::tests
