// Prepared loaders on real ranks.

#include <doctest/doctest.h>

#include "accelerate/comm/operations.h"
#include "accelerate/data/prepared_loader.h"
#include "tests/data/loader_checks.h"
#include "tests/support/rank_test.h"

namespace {

using namespace accelerate;
using namespace accelerate::tests;

std::vector<Batches> of_all_ranks(const Batches& batches, const comm::Group& group) {
  return comm::gather_object(std::vector<Batches>{batches}, group);
}

std::vector<int64_t> flat(const std::vector<Batches>& ranks) {
  std::vector<int64_t> all;
  for (const auto& batches : ranks) {
    for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

/// Each rank of upstream saw `cases[rank]`; each of ours must see the same.
void check_like_upstream(const nlohmann::json& cases, comm::Group& group) {
  for (const auto& c : cases.at(group.rank())) {
    CAPTURE(c.dump());
    const bool dispatch = c.at("dispatch");
    const bool drop_last = c.at("drop_last");
    auto check = [&](auto dataset) {
      DataLoader loader(dataset, {.batch_size = c.at("batch_size"), .num_workers = 1, .drop_last = drop_last});
      auto prepared = prepare_data_loader(
          loader, {.group = group, .configuration = {.split_batches = c.at("split"), .dispatch_batches = dispatch}});
      const auto expected = c.at("batches").get<Batches>();
      CHECK(walk(prepared) == expected);
      // Upstream does not know the remainder of an iterable data set that is not dispatched; ours is tested elsewhere.
      if (dispatch) CHECK(prepared.remainder() == c.at("remainder").get<int64_t>());
      if (!prepared.is_iterable()) CHECK(prepared.size() == static_cast<int64_t>(expected.size()));
    };
    if (c.at("kind") == "map") {
      check(numbers(c.at("n")));
    } else {
      check(NumberStream{c.at("n")});
    }
  }
}

}  // namespace

TEST_CASE("ranks see the dispatched and the iterable data that Python's Accelerate gives them") {
  const auto reference = parity_reference("dispatching");
  for (int world_size : {2, 3}) {
    tests::run_ranks(world_size,
                     [&](comm::Group& group) { check_like_upstream(reference.at(std::to_string(world_size)), group); });
  }
}

TEST_CASE("ranks with different seeds agree on the shuffle, and together see every sample once") {
  for (int world_size : {2, 3, 4}) {
    tests::run_ranks(world_size, [&](comm::Group& group) {
      for (bool seedable : {false, true}) {
        torch::manual_seed(100 + group.rank());
        auto loader = prepare_data_loader(DataLoader(numbers(24), {.batch_size = 2, .shuffle = true, .num_workers = 2}),
                                          {.group = group, .configuration = {.use_seedable_sampler = seedable}});
        std::vector<int64_t> last_order;
        for (int epoch = 0; epoch < 3; ++epoch) {
          auto order = flat(of_all_ranks(walk(loader), group));
          CHECK(order != last_order);
          last_order = order;
          std::sort(order.begin(), order.end());
          CHECK(order == to_vector(torch::arange(24)));
        }
      }
    });
  }
}

TEST_CASE("a rank that reads no data set of its own gets its part of a shuffled one, with names and other values") {
  tests::run_ranks(2, [&](comm::Group& group) {
    torch::manual_seed(group.rank());
    using Labelled = std::pair<Batch, std::string>;
    auto collate = [](std::vector<int64_t> samples) {
      return Labelled(Batch{{"x", torch::tensor(samples)}}, "written by rank 0");
    };
    std::vector<int64_t> samples(12, 0);
    for (int64_t i = 0; i < 12; ++i) samples[i] = i;
    auto loader = prepare_data_loader(DataLoader(samples, collate, {.batch_size = 3, .shuffle = true}),
                                      {.group = group, .configuration = {.dispatch_batches = true}});
    CHECK(loader.size() == 2);
    Batches seen;
    for (auto& [batch, text] : loader) {
      seen.push_back(to_vector(batch.at("x")));
      CHECK(text == "written by rank 0");
    }
    auto all = flat(of_all_ranks(seen, group));
    std::sort(all.begin(), all.end());
    CHECK(all == to_vector(torch::arange(12)));
  });
}

TEST_CASE("a last batch with fewer rows than ranks is completed for all of them") {
  tests::run_ranks(4, [&](comm::Group& group) {
    auto loader = prepare_data_loader(DataLoader(NumberStream{1}, {.batch_size = 2}), {.group = group});
    CHECK(walk(loader) == Batches{{0}});
    CHECK(loader.remainder() == 1);
  });
}

TEST_CASE("an error while rank 0 reads reaches every rank in its place, and they can go on together") {
  struct Fragile {
    int64_t size() const { return 8; }
    int64_t get(int64_t index) const {
      if (index == 5) fail("sample 5 is broken");
      return index;
    }
  };
  tests::run_ranks(2, [&](comm::Group& group) {
    for (int num_workers : {0, 2}) {
      auto loader = prepare_data_loader(DataLoader(Fragile(), {.num_workers = num_workers}),
                                        {.group = group, .configuration = {.dispatch_batches = true}});
      Batches seen;
      auto walk_on = [&] {
        for (auto& batch : loader) seen.push_back(to_vector(batch));
      };
      CHECK_THROWS_WITH_AS(walk_on(), doctest::Contains("rank 0 could not read batch 2 for all ranks: sample 5"),
                           Error);
      CHECK(seen == Batches{{group.rank()}, {2 + group.rank()}});
      group.barrier();
    }
  });
}

TEST_CASE("batches that cannot be joined are an error on every rank that says what to do") {
  tests::run_ranks(2, [&](comm::Group& group) {
    std::vector<torch::Tensor> samples = {torch::zeros({2}), torch::zeros({3})};
    auto loader =
        prepare_data_loader(DataLoader(samples), {.group = group, .configuration = {.dispatch_batches = true}});
    CHECK_THROWS_WITH_AS(walk(loader), doctest::Contains("set dispatch_batches to false"), Error);
  });
}

TEST_CASE("a function may cut the parts of ranks out of what rank 0 sends") {
  tests::run_ranks(2, [](comm::Group& group) {
    auto every_other_row = [](const torch::Tensor& round, const DispatchSlice& slice) {
      CHECK(slice.begin == slice.process_index * round.size(0) / 2);
      CHECK(slice.end - slice.begin == round.size(0) / slice.num_processes);
      return round.slice(0, slice.process_index, round.size(0), slice.num_processes);
    };
    auto loader = prepare_data_loader(DataLoader(numbers(10), {.batch_size = 2}),
                                      {.group = group, .configuration = {.dispatch_batches = true}}, every_other_row);
    // The third round has two rows, one for each rank.
    auto expected = group.rank() == 0 ? Batches{{0, 2}, {4, 6}, {8}} : Batches{{1, 3}, {5, 7}, {9}};
    CHECK(walk(loader) == expected);
    CHECK(walk(skip_first_batches(loader, 2)) == Batches(expected.begin() + 2, expected.end()));
  });
}

TEST_CASE("dispatched loaders skip, leave early and resume like any other") {
  tests::run_ranks(2, [&](comm::Group& group) {
    auto make_loader = [&] {
      return prepare_data_loader(DataLoader(NumberStream{17}, {.batch_size = 2, .num_workers = 1}), {.group = group});
    };
    auto loader = make_loader();
    const auto whole = walk(loader);
    CHECK(whole.size() == 5);
    CHECK(walk(skip_first_batches(loader, 3)) == Batches(whole.begin() + 3, whole.end()));
    int count = 0;
    for ([[maybe_unused]] auto& batch : loader) {
      if (++count == 2) break;
    }
    auto resumed = make_loader();
    resumed.load_state_dict(loader.state_dict());
    CHECK(resumed.iteration() == 2);
    CHECK(walk(resumed) == Batches(whole.begin() + 2, whole.end()));
    CHECK(walk(resumed) == whole);
  });
}

TEST_CASE("a shuffle resumed on ranks with other seeds goes on as the first run did") {
  tests::run_ranks(2, [&](comm::Group& group) {
    auto make_loader = [&](uint64_t seed, bool dispatch) {
      torch::manual_seed(seed + group.rank());
      return prepare_data_loader(DataLoader(numbers(20), {.batch_size = 2, .shuffle = true}),
                                 {.group = group, .configuration = {.dispatch_batches = dispatch}});
    };
    for (bool dispatch : {false, true}) {
      auto loader = make_loader(1, dispatch);
      walk(loader);
      LoaderPosition state;
      Batches rest;
      int count = 0;
      for (auto& batch : loader) {
        if (count++ >= 2) rest.push_back(to_vector(batch));
        if (count == 2) state = loader.state_dict();
      }
      auto resumed = make_loader(50, dispatch);
      resumed.load_state_dict(state);
      CHECK(walk(resumed) == rest);
    }
  });
}
