// Prepared loaders in one process, for every rank in turn.

#include "accelerate/data/prepared_loader.h"

#include <doctest/doctest.h>

#include "tests/data/loader_checks.h"

namespace {

using namespace accelerate;
using namespace accelerate::tests;
using data::ActiveLoaders;
using data::PrepareOptions;

PrepareOptions as_rank(int rank, int world_size, DataLoaderConfiguration configuration = {}) {
  return {.configuration = configuration, .num_processes = world_size, .process_index = rank};
}

template <class Loader>
std::vector<bool> ends_of(Loader& loader, const ActiveLoaders& active) {
  std::vector<bool> ends;
  for ([[maybe_unused]] auto& batch : loader) {
    CHECK(active.end_of_dataloader() == loader.end_of_dataloader());
    ends.push_back(active.end_of_dataloader());
  }
  return ends;
}

/// Takes `seen` batches, saves the state, and gives what a fresh loader makes of it beside what the first went on with.
template <class MakeLoader>
void check_resumes(MakeLoader make_loader, int whole_epochs, int seen) {
  CAPTURE(whole_epochs);
  CAPTURE(seen);
  torch::manual_seed(5);
  auto loader = make_loader();
  walks(loader, whole_epochs);
  LoaderPosition state;
  torch::Tensor global_state;
  Batches rest;
  int count = 0;
  for (auto& batch : loader) {
    if (count++ >= seen) rest.push_back(to_vector(batch));
    if (count == seen) {
      state = loader.state_dict();
      global_state = at::detail::getDefaultCPUGenerator().get_state();
    }
  }
  const auto later = walks(loader, 2);

  torch::manual_seed(99);
  auto resumed = make_loader();
  auto global = at::detail::getDefaultCPUGenerator();
  global.set_state(global_state);
  resumed.load_state_dict(state);
  CHECK(state.epoch == whole_epochs);
  CHECK(state.batches_seen == seen);
  CHECK(resumed.size() == static_cast<int64_t>(rest.size()));
  CHECK(walk(resumed) == rest);
  CHECK(walks(resumed, 2) == later);
  CHECK(resumed.iteration() == loader.iteration());
}

}  // namespace

TEST_CASE("the last batch is known while it is used, in every epoch, and nothing is active outside of a loop") {
  auto active = std::make_shared<ActiveLoaders>();
  auto loader = prepare_data_loader(DataLoader(numbers(16), {.batch_size = 4}), {.active_loaders = active});
  for (int epoch = 0; epoch < 2; ++epoch) {
    CHECK(ends_of(loader, *active) == std::vector<bool>{false, false, false, true});
    CHECK(!active->in_dataloader());
    CHECK(!active->end_of_dataloader());
    CHECK(active->remainder() == -1);
    CHECK(loader.iteration() == epoch + 1);
  }
}

TEST_CASE("a random state that there is not is refused when a loader is prepared, on one process too") {
  CHECK_THROWS_WITH_AS(prepare_data_loader(DataLoader(torch::arange(4)), {.rng_types = {"dice"}}),
                       doctest::Contains("rng_types has 'dice'"), Error);
}

TEST_CASE("leaving a loop early, by break or by an exception, leaves nothing behind") {
  auto active = std::make_shared<ActiveLoaders>();
  auto loader =
      prepare_data_loader(DataLoader(numbers(16), {.batch_size = 4, .num_workers = 2}), {.active_loaders = active});
  for ([[maybe_unused]] auto& batch : loader) break;
  CHECK(!active->in_dataloader());
  CHECK(loader.iteration() == 0);
  auto fall_out = [&] {
    for ([[maybe_unused]] auto& batch : loader) throw std::runtime_error("out");
  };
  CHECK_THROWS(fall_out());
  CHECK(!active->in_dataloader());
  CHECK(walk(loader).size() == 4);
}

TEST_CASE("nested loops are about the innermost loader") {
  auto active = std::make_shared<ActiveLoaders>();
  auto outer = prepare_data_loader(DataLoader(numbers(2)), {.active_loaders = active});
  auto inner = prepare_data_loader(DataLoader(numbers(3), {.batch_size = 2}), {.active_loaders = active});
  for ([[maybe_unused]] auto& a : outer) {
    const bool outer_ends = active->end_of_dataloader();
    CHECK(ends_of(inner, *active) == std::vector<bool>{false, true});
    CHECK(active->end_of_dataloader() == outer_ends);
  }
}

TEST_CASE("an error met while looking ahead is thrown in its place") {
  struct Fragile {
    int64_t size() const { return 4; }
    int64_t get(int64_t index) const {
      if (index == 2) fail("sample 2 is broken");
      return index;
    }
  };
  auto loader = prepare_data_loader(DataLoader(Fragile()));
  Batches seen;
  auto walk_on = [&] {
    for (auto& batch : loader) {
      seen.push_back(to_vector(batch));
      CHECK(!loader.end_of_dataloader());
    }
  };
  CHECK_THROWS_WITH_AS(walk_on(), "sample 2 is broken", Error);
  CHECK(seen == Batches{{0}, {1}});
  CHECK(loader.iteration() == 0);
}

TEST_CASE("ranks share the batches, and know the sizes that all of them see together") {
  DataLoader batches(numbers(22), {.batch_size = 3});
  auto first = prepare_data_loader(batches, as_rank(0, 2));
  auto second = prepare_data_loader(batches, as_rank(1, 2));
  CHECK(walk(first).back() == std::vector<int64_t>{18, 19, 20});
  CHECK(walk(second).back() == std::vector<int64_t>{21, 0, 1});
  CHECK(first.size() == 4);
  CHECK(first.total_batch_size() == 6);
  CHECK(first.total_dataset_length() == 22);

  auto half = prepare_data_loader(DataLoader(numbers(21), {.batch_size = 4}), as_rank(1, 2, {.split_batches = true}));
  CHECK(half.total_batch_size() == 4);
  CHECK(half.size() == 6);
  CHECK(walk(half).back() == std::vector<int64_t>{1, 2});
}

TEST_CASE("the remainder is the number of real samples in the last round") {
  auto remainder = [](auto dataset, int64_t batch_size, bool drop_last, DataLoaderConfiguration configuration) {
    auto loader = prepare_data_loader(DataLoader(dataset, {.batch_size = batch_size, .drop_last = drop_last}),
                                      as_rank(1, 2, configuration));
    walk(loader);
    return loader.remainder();
  };
  CHECK(remainder(numbers(9), 5, false, {}) == 9);
  CHECK(remainder(numbers(10), 2, false, {}) == 2);
  CHECK(remainder(numbers(8), 2, false, {}) == 0);
  CHECK(remainder(numbers(7), 2, true, {}) == -1);
  CHECK(remainder(numbers(9), 4, false, {.split_batches = true}) == 1);
  // An iterable data set, of known or unknown size, that every rank reads: upstream keeps the repeated samples here.
  CHECK(remainder(NumberStream{10}, 2, false, {.dispatch_batches = false}) == 2);
  CHECK(remainder(NumberStream{7}, 2, false, {.dispatch_batches = false}) == 3);
  CHECK(remainder(NumberStream{8}, 2, false, {.dispatch_batches = false}) == 4);
  CHECK(remainder(NumberStream{7}, 2, true, {.dispatch_batches = false}) == -1);
  SizedNumberStream sized;
  sized.count = 30;
  CHECK(remainder(sized, 4, false, {.dispatch_batches = false}) == 6);
  struct Optimistic : NumberStream {
    int64_t size() const { return count + 1; }
  } longer_than_it_is;
  longer_than_it_is.count = 30;
  CHECK(remainder(longer_than_it_is, 4, false, {.dispatch_batches = false}) == 6);
}

TEST_CASE("a process that says which of how many it is takes its share of a stream by itself") {
  auto loader = [](int rank) { return prepare_data_loader(DataLoader(NumberStream{4}), as_rank(rank, 2)); };
  auto first = loader(0), second = loader(1);
  CHECK(walk(first) == Batches{{0}, {2}});
  CHECK(walk(second) == Batches{{1}, {3}});
}

TEST_CASE("the remainder of a batch sampler with varying batches counts the samples of the last round") {
  struct Varying : BatchSamplerBase {
    data::BatchStream begin() override {
      std::vector<data::Indices> batches = {{0, 1, 2}, {3, 4}, {5, 6, 7, 8}};
      return [batches, next = size_t{0}]() mutable -> std::optional<data::Indices> {
        if (next == batches.size()) return std::nullopt;
        return batches[next++];
      };
    }
    int64_t size() const override { return 3; }
  };
  DataLoader batches(numbers(9), {.batch_sampler = std::make_shared<Varying>()});
  auto loader = prepare_data_loader(batches, as_rank(1, 2));
  CHECK(walk(loader) == Batches{{3, 4}, {0, 1, 2}});
  CHECK(loader.remainder() == 4);
  CHECK_THROWS_WITH_AS(loader.total_batch_size(), doctest::Contains("different sizes"), Error);
  CHECK_THROWS_WITH_AS(prepare_data_loader(batches, as_rank(0, 2, {.split_batches = true})),
                       doctest::Contains("batch_size() of your batch sampler"), Error);
}

TEST_CASE("batches need not be even, from the next epoch on") {
  auto loader = prepare_data_loader(DataLoader(numbers(3)), as_rank(1, 2));
  CHECK(walk(loader) == Batches{{1}, {0}});
  CHECK(loader.even_batches());
  loader.set_even_batches(false);
  CHECK(loader.size() == 1);
  CHECK(walk(loader) == Batches{{1}});
}

TEST_CASE("a configuration that cannot work is refused when the loader is prepared") {
  CHECK_THROWS_WITH_AS(
      prepare_data_loader(DataLoader(numbers(9), {.batch_size = 3}), as_rank(0, 2, {.split_batches = true})),
      doctest::Contains("3 samples cannot be divided equally among 2 ranks"), Error);
  CHECK_THROWS_WITH_AS(prepare_data_loader(DataLoader(NumberStream{9}),
                                           as_rank(0, 2, {.split_batches = true, .dispatch_batches = false})),
                       doctest::Contains("1 samples cannot be divided"), Error);
  CHECK_THROWS_WITH_AS(prepare_data_loader(DataLoader(numbers(9)),
                                           {.configuration = {.dispatch_batches = true}, .put_on_device = false}),
                       doctest::Contains("put_on_device"), Error);
}

TEST_CASE("batches of a type that cannot be sent are refused where they would be dispatched, and only there") {
  struct Opaque {
    int64_t* pointer = nullptr;
  };
  DataLoader loader(NumberStream{2}, [](std::vector<int64_t>) { return Opaque(); });
  CHECK(!data::Dispatchable<Opaque>);
  CHECK_THROWS_WITH_AS(prepare_data_loader(loader, as_rank(0, 2, {.dispatch_batches = true})),
                       doctest::Contains("cannot be sent"), Error);
  int count = 0;
  for ([[maybe_unused]] auto& batch : prepare_data_loader(loader)) ++count;
  CHECK(count == 2);
}

TEST_CASE("the epoch's number reaches the samplers and the data set, and can be set") {
  auto shuffled = [](int64_t epoch) {
    auto loader = prepare_data_loader(DataLoader(numbers(10), {.batch_size = 10, .shuffle = true}),
                                      {.configuration = {.use_seedable_sampler = true, .data_seed = 42}});
    loader.set_epoch(epoch);
    return walk(loader).front();
  };
  CHECK(shuffled(0) == std::vector<int64_t>{2, 6, 1, 8, 4, 5, 0, 9, 3, 7});
  CHECK(shuffled(1) == std::vector<int64_t>{8, 4, 9, 0, 5, 1, 6, 7, 2, 3});

  struct EpochNumbers : NumberStream {
    int64_t epoch = 0;
    void set_epoch(int64_t value) { count = value + 1; }
  };
  auto stream = prepare_data_loader(DataLoader(EpochNumbers()));
  CHECK(walks(stream, 3) == std::vector<Batches>{{{0}}, {{0}, {1}}, {{0}, {1}, {2}}});
}

TEST_CASE("skip_first_batches leaves out batches of this rank once, and keeps the epoch and drop_last") {
  auto loader = prepare_data_loader(DataLoader(numbers(17), {.batch_size = 2, .drop_last = true}), as_rank(1, 2));
  walk(loader);
  auto rest = skip_first_batches(loader, 2);
  CHECK(rest.iteration() == 1);
  CHECK(rest.size() == 2);
  CHECK(walk(rest) == Batches{{10, 11}, {14, 15}});
  CHECK(loader.iteration() == 2);
  CHECK(walk(rest) == walk(loader));
  CHECK(rest.iteration() == 4);

  auto skipped = skip_first_batches(DataLoader(NumberStream{5}, {.batch_size = 2}), 1);
  CHECK(walk(prepare_data_loader(skipped)) == Batches{{2, 3}, {4}});
}

TEST_CASE("after load_state_dict, skip_first_batches takes over what was to be left out, and the place is one") {
  auto make_loader = [] {
    return prepare_data_loader(DataLoader(numbers(12), {.batch_size = 2, .shuffle = true}),
                               {.configuration = {.use_seedable_sampler = true, .data_seed = 42}});
  };
  auto uninterrupted = make_loader();
  const auto epochs = walks(uninterrupted, 2);

  auto loader = make_loader();
  loader.load_state_dict({.epoch = 0, .batches_seen = 2, .seed = 42});
  auto rest = skip_first_batches(loader, 2);
  int64_t seen = 2;
  for ([[maybe_unused]] auto& batch : rest) CHECK(loader.state_dict().batches_seen == ++seen);
  CHECK(seen == 6);
  CHECK(walk(loader) == epochs[1]);
}

TEST_CASE("a loader resumed in an epoch gives exactly the rest of it, and then the epochs that would have followed") {
  for (int num_workers : {0, 2}) {
    for (int seen : {1, 3, 4}) {
      for (int rank : {0, 1}) {
        auto shuffled = [&](bool seedable, int world_size, bool with_generator) {
          return [=] {
            auto generator = with_generator ? at::detail::createCPUGenerator(3) : at::Generator();
            DataLoader loader(numbers(14),
                              {.batch_size = 2, .shuffle = true, .num_workers = num_workers, .generator = generator});
            return prepare_data_loader(loader,
                                       as_rank(rank % world_size, world_size, {.use_seedable_sampler = seedable}));
          };
        };
        check_resumes(shuffled(false, 1, false), 1, seen);
        check_resumes(shuffled(false, 1, true), 1, seen);
        check_resumes(shuffled(false, 2, false), 2, seen);
        check_resumes(shuffled(false, 2, true), 0, seen);
        check_resumes(shuffled(true, 2, false), 1, seen);
      }
      SizedNumberStream stream;
      stream.count = 15;
      check_resumes(
          [&] {
            return prepare_data_loader(DataLoader(stream, {.batch_size = 2, .num_workers = num_workers}),
                                       as_rank(1, 2, {.dispatch_batches = false}));
          },
          1, seen);
    }
  }
}

TEST_CASE("a loader resumed between epochs goes on with the next one") {
  auto make_loader = [] {
    return prepare_data_loader(DataLoader(numbers(9), {.batch_size = 2, .shuffle = true}), as_rank(0, 2));
  };
  torch::manual_seed(1);
  auto loader = make_loader();
  walks(loader, 2);
  auto state = loader.state_dict();
  CHECK(state.epoch == 2);
  CHECK(state.batches_seen == 0);
  const auto later = walks(loader, 2);
  torch::manual_seed(2);
  auto resumed = make_loader();
  resumed.load_state_dict(state);
  CHECK(walks(resumed, 2) == later);
}

TEST_CASE("after leaving a loop early the state is where it was left") {
  auto loader = prepare_data_loader(DataLoader(numbers(8), {.batch_size = 2}));
  int count = 0;
  for ([[maybe_unused]] auto& batch : loader) {
    if (++count == 3) break;
  }
  auto resumed = prepare_data_loader(DataLoader(numbers(8), {.batch_size = 2}));
  resumed.load_state_dict(loader.state_dict());
  CHECK(walk(resumed) == Batches{{6, 7}});
}

TEST_CASE("an epoch skips batches at its start or behind the first round, or all if there are fewer") {
  auto batches = [](int64_t count, const data::Skip& skip) {
    return data::EpochBatches(
        [next = int64_t{0}, count]() mutable {
          return next < count ? std::optional(data::Indices{next++}) : std::nullopt;
        },
        skip);
  };
  auto read = [](data::EpochBatches epoch) {
    data::Indices all;
    while (auto batch = epoch.next()) all.push_back(batch->front());
    return all;
  };
  CHECK(read(batches(5, {.count = 3})) == data::Indices{3, 4});
  CHECK(read(batches(2, {.count = 5})).empty());
  CHECK(read(batches(5, {.count = 2, .after = 1})) == data::Indices{0, 3, 4});
}
