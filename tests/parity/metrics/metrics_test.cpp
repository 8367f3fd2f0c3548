// The evaluation loops of metrics/make_reference.py, done here.

#include <doctest/doctest.h>

#include <ranges>

#include "accelerate/accelerator.h"
#include "accelerate/data/tensor_dataset.h"
#include "tests/parity/recorded.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

DataLoader<at::Tensor> numbers(int64_t size, int64_t batch_size, bool drop_last = false) {
  return DataLoader(TensorDataset(torch::arange(size)), {.batch_size = batch_size, .drop_last = drop_last});
}

AcceleratorOptions sharing(const json& expected) {
  return {.cpu = true,
          .dataloader_config = {.split_batches = expected.value("split", false),
                                .dispatch_batches = expected.value("dispatch", false)}};
}

/// Walks over the numbers below "size" and compares every step with the recorded one.
void check_walk(const json& expected, int rank, bool drop_last) {
  CAPTURE(expected.dump());
  Accelerator accelerator(sharing(expected));
  auto loader = accelerator.prepare(numbers(expected.at("size"), expected.at("batch_size"), drop_last));
  CHECK(loader.size() == expected.at("length"));
  size_t step = 0;
  for (auto& batch : loader) {
    REQUIRE(step < expected.at("steps").size());
    const auto& there = expected.at("steps").at(step++);
    CHECK(as_json(batch) == there.at("batches").at(rank));
    CHECK(as_json(accelerator.gather_for_metrics(batch)) == there.at("kept"));
    CHECK(accelerator.remainder() == there.at("remainder"));
  }
  CHECK(step == expected.at("steps").size());
  CHECK(accelerator.remainder() == -1);
}

/// A data set that does not know its size.
struct CountUp {
  int64_t limit;
  auto begin() const { return std::views::iota(int64_t{0}, limit).begin(); }
  auto end() const { return std::views::iota(int64_t{0}, limit).end(); }
};

template <class Check>
void on_recorded_ranks(Check check) {
  const auto world_sizes = recorded("metrics");
  for (const auto& [world_size, reference] : world_sizes.items()) {
    CAPTURE(world_size);
    run_ranks(std::stoi(world_size), [&](comm::Group& group) { check(reference, group.rank()); });
  }
}

}  // namespace

TEST_CASE("gather_for_metrics keeps what Accelerate's keeps, for every size, batch size and way of sharing") {
  on_recorded_ranks([](const json& reference, int rank) {
    for (const auto& expected : reference.at("cases")) check_walk(expected, rank, /*drop_last=*/false);
  });
}

TEST_CASE("an incomplete last batch that is dropped leaves nothing to cut off") {
  on_recorded_ranks([](const json& reference, int rank) {
    for (const auto& expected : reference.at("drop_last")) check_walk(expected, rank, /*drop_last=*/true);
  });
}

TEST_CASE("gather_for_metrics counts every sample of a larger data set once") {
  on_recorded_ranks([](const json& reference, int) {
    for (const auto& expected : reference.at("large")) {
      CAPTURE(expected.dump());
      Accelerator accelerator(sharing(expected));
      int64_t kept = 0;
      for (auto& batch : accelerator.prepare(numbers(expected.at("size"), expected.at("batch_size")))) {
        kept += accelerator.gather_for_metrics(batch).size(0);
      }
      CHECK(kept == expected.at("kept"));
    }
  });
}

TEST_CASE("gather_for_metrics keeps every sample of a stream once") {
  on_recorded_ranks([](const json& reference, int) {
    const auto& expected = reference.at("iterable");
    Accelerator accelerator({.cpu = true});
    DataLoader stream(CountUp{expected.at("size")}, {.batch_size = expected.at("batch_size")});
    auto kept = json::array();
    for (auto& batch : accelerator.prepare(stream)) kept.push_back(as_json(accelerator.gather_for_metrics(batch)));
    CHECK(kept == expected.at("kept"));
  });
}

TEST_CASE("gather_for_metrics cuts lists of objects as it cuts tensors") {
  on_recorded_ranks([](const json& reference, int) {
    Accelerator accelerator({.cpu = true});
    auto kept = json::array();
    for (auto& batch : accelerator.prepare(numbers(7, 2))) {
      std::vector<std::string> names;
      for (int64_t i = 0; i < batch.size(0); ++i) names.push_back("sample " + std::to_string(batch[i].item<int64_t>()));
      kept.push_back(accelerator.gather_for_metrics(names));
    }
    CHECK(kept == reference.at("objects"));
  });
}

}  // namespace accelerate::tests
