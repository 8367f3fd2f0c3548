// Parts and concatenations of data sets, and samplers that draw, compared with Python's.

#include "accelerate/data/subset.h"

#include <doctest/doctest.h>

#include "accelerate/data/concat_dataset.h"
#include "tests/data/loader_checks.h"
#include "tests/support/rank_test.h"

namespace {

using namespace accelerate;
using namespace accelerate::tests;
using Orders = std::vector<std::vector<int64_t>>;

const nlohmann::json& samplers_reference() {
  static const auto cases = parity_reference("samplers");
  return cases;
}

/// The seed of a case for libtorch's global generator, and its own generator if it has one.
at::Generator seeded(const nlohmann::json& c) {
  const uint64_t seed = c.at("seed");
  torch::manual_seed(seed);
  return c.at("generator").get<bool>() ? at::detail::createCPUGenerator(seed + 1) : at::Generator();
}

bool draws_go_on_as(const nlohmann::json& next_draw) {
  return torch::randint(int64_t{1} << 31, {}, torch::kLong).item<int64_t>() == next_draw.get<int64_t>();
}

Orders epochs_of(data::Sampler& sampler, int count) {
  Orders epochs;
  for (int i = 0; i < count; ++i) {
    auto& epoch = epochs.emplace_back();
    auto indices = sampler.begin();
    while (auto index = indices()) epoch.push_back(*index);
    CHECK(static_cast<int64_t>(epoch.size()) == sampler.size());
  }
  return epochs;
}

std::shared_ptr<Sampler> sampler_of_kind(const std::string& kind) {
  if (kind == "subset") {
    data::Indices thirds;
    for (int64_t i = 3; i < 50; i += 3) thirds.push_back(i);
    return std::make_shared<SubsetRandomSampler>(thirds);
  }
  std::vector<double> weights;
  for (int i = 0; i < 50; ++i) weights.push_back(1.0 + (i * 37 % 11) / 3.0);
  return std::make_shared<WeightedRandomSampler>(weights, 21);
}

data::PrepareOptions as_rank_of(int rank, int world_size, bool seedable = false) {
  return {.configuration = {.use_seedable_sampler = seedable}, .num_processes = world_size, .process_index = rank};
}

struct Letters {
  std::string letters;
  int64_t epoch = 0;
  int64_t size() const { return static_cast<int64_t>(letters.size()); }
  std::string get(int64_t index) const { return letters.substr(index, 1) + std::to_string(epoch); }
  void set_epoch(int64_t value) { epoch = value; }
};

template <class Loader>
std::string text_of(Loader&& loader) {
  std::string text;
  for (auto& batch : loader) {
    for (auto& letter : batch) text += letter + " ";
  }
  return text;
}

}  // namespace

TEST_CASE("a weighted sampler draws Python's indices, and as many numbers") {
  for (const auto& c : samplers_reference().at("weighted")) {
    CAPTURE(c.dump());
    auto generator = seeded(c);
    WeightedRandomSampler sampler(c.at("weights").get<std::vector<double>>(), c.at("num_samples"),
                                  {.replacement = c.at("replacement"), .generator = generator});
    CHECK(epochs_of(sampler, 3) == c.at("epochs").get<Orders>());
    CHECK(draws_go_on_as(c.at("next_draw")));
  }
}

TEST_CASE("a sampler of a subset gives Python's orders, and draws as many numbers") {
  for (const auto& c : samplers_reference().at("subset")) {
    CAPTURE(c.dump());
    auto generator = seeded(c);
    SubsetRandomSampler sampler(c.at("indices").get<data::Indices>(), generator);
    CHECK(epochs_of(sampler, 3) == c.at("epochs").get<Orders>());
    CHECK(draws_go_on_as(c.at("next_draw")));
  }
}

TEST_CASE("random_split divides as Python's, by counts and by fractions") {
  for (const auto& c : samplers_reference().at("split")) {
    CAPTURE(c.dump());
    auto generator = seeded(c);
    std::vector<data::SplitLength> lengths;
    for (const auto& length : c.at("lengths")) {
      if (length.is_number_integer()) {
        lengths.emplace_back(length.get<int64_t>());
      } else {
        lengths.emplace_back(length.get<double>());
      }
    }
    Orders parts;
    for (const auto& part : random_split(numbers(c.at("n")), lengths, generator)) parts.push_back(part.indices());
    CHECK(parts == c.at("parts").get<Orders>());
    CHECK(draws_go_on_as(c.at("next_draw")));
  }
}

TEST_CASE("loaders with such samplers give Python's batches, with workers and on every rank") {
  for (int num_workers : {0, 2}) {
    auto loader = [&](const nlohmann::json& c) {
      torch::manual_seed(c.at("seed").get<uint64_t>());
      return DataLoader(numbers(50),
                        {.batch_size = 4, .num_workers = num_workers, .sampler = sampler_of_kind(c.at("kind"))});
    };
    for (const auto& c : samplers_reference().at("plain")) {
      CAPTURE(c.dump());
      CHECK(walks(loader(c), 3) == c.at("epochs").get<std::vector<Batches>>());
      CHECK(draws_go_on_as(c.at("next_draw")));
    }
    for (const auto& c : samplers_reference().at("prepared")) {
      CAPTURE(c.dump());
      const int world_size = c.at("num_processes");
      for (int rank = 0; rank < world_size; ++rank) {
        auto prepared = prepare_data_loader(loader(c), as_rank_of(rank, world_size, c.at("seedable")));
        CHECK(walks(prepared, 3) == c.at("ranks").at(rank).get<std::vector<Batches>>());
        CHECK(walk(skip_first_batches(prepared, 1)) == c.at("rest").at(rank).get<Batches>());
        CHECK(draws_go_on_as(c.at("next_draw").at(rank)));
      }
    }
  }
}

TEST_CASE("a loader with such a sampler resumes in an epoch, and the global generator is where it was") {
  for (const std::string kind : {"weighted", "subset"}) {
    for (int world_size : {1, 2}) {
      for (int num_workers : {0, 2}) {
        CAPTURE(kind);
        CAPTURE(world_size);
        auto make_loader = [&] {
          DataLoader loader(numbers(50),
                            {.batch_size = 4, .num_workers = num_workers, .sampler = sampler_of_kind(kind)});
          return prepare_data_loader(loader, as_rank_of(world_size - 1, world_size));
        };
        torch::manual_seed(5);
        auto loader = make_loader();
        walk(loader);
        LoaderPosition state;
        torch::Tensor global_state;
        Batches rest;
        int count = 0;
        for (auto& batch : loader) {
          if (count++ > 0) {
            rest.push_back(to_vector(batch));
            continue;
          }
          state = loader.state_dict();
          global_state = at::detail::getDefaultCPUGenerator().get_state();
        }
        const auto later = walks(loader, 2);

        torch::manual_seed(99);
        auto resumed = make_loader();
        auto global = at::detail::getDefaultCPUGenerator();
        global.set_state(global_state);
        resumed.load_state_dict(state);
        CHECK(walk(resumed) == rest);
        CHECK(walks(resumed, 2) == later);
      }
    }
  }
}

TEST_CASE("ranks with different seeds agree on what a subset sampler draws") {
  tests::run_ranks(2, [&](comm::Group& group) {
    torch::manual_seed(100 + group.rank());
    auto loader = prepare_data_loader(DataLoader(numbers(50), {.batch_size = 4, .sampler = sampler_of_kind("subset")}),
                                      {.group = group});
    for (int epoch = 0; epoch < 2; ++epoch) {
      auto mine = torch::zeros({50}, torch::kLong);
      for (auto& batch : loader) mine.index_fill_(0, batch, 1);
      group.all_reduce(mine);
      CHECK(mine.sum().item<int64_t>() == 16);
      CHECK(mine.max().item<int64_t>() == 1);
    }
  });
}

TEST_CASE("a sampler is an option as it is, without a pointer") {
  CHECK(walk(DataLoader(numbers(9), {.batch_size = 2, .sampler = SequentialSampler(3)})) == Batches{{0, 1}, {2}});
  auto batches = BatchSampler(std::make_shared<SequentialSampler>(3), 2);
  CHECK(walk(DataLoader(numbers(9), {.batch_sampler = batches})) == Batches{{0, 1}, {2}});
}

TEST_CASE("samplers refuse weights and numbers that they cannot draw from") {
  using Weights = std::vector<double>;
  CHECK_THROWS_WITH_AS(WeightedRandomSampler(Weights{1, 2}, 0), doctest::Contains("num_samples is 0"), Error);
  CHECK_THROWS_WITH_AS(WeightedRandomSampler(Weights{1, 2}, 3, {.replacement = false}),
                       doctest::Contains("cannot draw 3 of 2"), Error);
  CHECK_THROWS_WITH_AS(WeightedRandomSampler(Weights{1, -2}, 3), doctest::Contains("not negative"), Error);
  CHECK_THROWS_WITH_AS(WeightedRandomSampler(Weights{0, 0}, 3), doctest::Contains("greater than 0"), Error);
  CHECK_THROWS_WITH_AS(WeightedRandomSampler(torch::ones({2, 2}), 3), doctest::Contains("[2, 2]"), Error);
  CHECK(WeightedRandomSampler(torch::tensor({1, 2}), 3).size() == 3);
}

TEST_CASE("a sampler that was made for a larger data set is an error with the index") {
  const std::vector<double> weights = {0, 0, 0, 1};
  const WeightedRandomSampler sampler(weights, 1);
  CHECK_THROWS_WITH_AS(walk(DataLoader(std::vector<int64_t>{5, 6, 7}, {.sampler = sampler})),
                       doctest::Contains("sample 3 is not one of the 3 samples"), Error);
  CHECK_THROWS_WITH_AS(walk(DataLoader(Subset(numbers(9), {7, 1, 4}), {.sampler = sampler})),
                       doctest::Contains("sample 3 is not one of the 3 samples"), Error);
  // One row, several in order, several in another order, and rows that are not plain memory.
  const auto square = torch::arange(9).reshape({3, 3});
  for (const auto& rows : {square, square.t()}) {
    for (const auto& last : {data::Indices{3}, data::Indices{2, 3}, data::Indices{3, 0}, data::Indices{-1}}) {
      CHECK_THROWS_WITH_AS(TensorDataset(rows).get_batch(last),
                           doctest::Contains("is not one of the 3 rows of the data set; was the sampler created for"),
                           Error);
    }
    CHECK_THROWS_WITH_AS(walk(DataLoader(rows.select(1, 0).contiguous(), {.sampler = sampler})),
                         doctest::Contains("row 3 is not one of the 3 rows"), Error);
  }
  CHECK_THROWS_WITH_AS(Subset(std::vector<int64_t>{5, 6, 7}, {2, 1}).get(2), doctest::Contains("one of the 2"), Error);
}

TEST_CASE("a subset gives the samples at its indices, of samples and of rows, and shares the data set") {
  CHECK(walk(DataLoader(Subset(numbers(9), {7, 1, 4}), {.batch_size = 2})) == Batches{{7, 1}, {4}});
  CHECK(walk(DataLoader(Subset(torch::arange(9), {7, 1}), {.batch_size = 2})) == Batches{{7, 1}});

  auto letters = std::make_shared<Letters>(Letters{"abcdef"});
  Subset vowels(letters, {0, 4});
  CHECK(vowels.size() == 2);
  CHECK(vowels.get(1) == "e0");
  DataLoader loader(vowels);
  loader.set_epoch(3);
  CHECK(text_of(loader) == "a3 e3 ");
  CHECK(letters->epoch == 3);
  CHECK(Subset(vowels, {1}).get(0) == "e3");
  CHECK_THROWS_WITH_AS(Subset(letters, {0, 6}), doctest::Contains("sample 6 is not one of the 6 samples"), Error);
  CHECK_THROWS_WITH_AS(Subset(letters, {-1}), doctest::Contains("sample -1"), Error);
}

TEST_CASE("random_split gives parts that can be bound, and refuses lengths that do not fit") {
  torch::manual_seed(0);
  auto [train, validation] = random_split(numbers(10), {0.8, 0.2});
  CHECK(train.size() == 8);
  CHECK(validation.size() == 2);
  const auto dataset = numbers(10);
  auto [most, three] = random_split(dataset, {dataset.size() - 3, 3});
  CHECK(most.size() == 7);
  CHECK(three.size() == 3);
  CHECK(walk(DataLoader(three, {.batch_size = 3})) == Batches{three.indices()});
  CHECK_THROWS_WITH_AS(random_split(dataset, {8, 3}), doctest::Contains("add up to 11, but the data set has 10"),
                       Error);
  CHECK_THROWS_WITH_AS(random_split(dataset, {0.5, 0.4}), doctest::Contains("add up to 0.9"), Error);
  CHECK_THROWS_WITH_AS(random_split(dataset, {1.5, -0.5}), doctest::Contains("1.5 is not between 0 and 1"), Error);
  CHECK_THROWS_WITH_AS(random_split(dataset, {5, 0.5}), doctest::Contains("either counts or fractions"), Error);
}

TEST_CASE("a concatenation shuffles as Python's, of samples and of rows") {
  for (const auto& c : samplers_reference().at("concatenated")) {
    CAPTURE(c.dump());
    auto range = [](int64_t from, int64_t to) { return torch::arange(from, to); };
    auto samples = [](const torch::Tensor& values) { return to_vector(values); };
    const auto a = range(0, 5), b = range(100, 103), d = range(20, 31);
    auto check = [&](auto dataset) {
      torch::manual_seed(c.at("seed").get<uint64_t>());
      DataLoader loader(std::move(dataset), {.batch_size = 4, .shuffle = true, .num_workers = 1});
      CHECK(walks(loader, 3) == c.at("epochs").get<std::vector<Batches>>());
    };
    check(ConcatDataset(a, TensorDataset(b), TensorDataset(d)));
    check(ConcatDataset(samples(a), samples(b), samples(d)));
    check(ConcatDataset({samples(a), samples(b), samples(d)}));
    check(ConcatDataset(std::vector{TensorDataset(a), TensorDataset(b), TensorDataset(d)}));
  }
}

TEST_CASE("a concatenation is told the epoch, may have empty parts, and knows its samples") {
  ConcatDataset all(Letters{"ab"}, Letters{""}, std::make_shared<Letters>(Letters{"c"}));
  CHECK(all.size() == 3);
  CHECK(all.cumulative_sizes() == data::Indices{2, 2, 3});
  DataLoader loader(all, {.batch_size = 2});
  loader.set_epoch(1);
  CHECK(text_of(loader) == "a1 b1 c1 ");
  CHECK_THROWS_WITH_AS(all.get_batch({3}), doctest::Contains("sample 3 is not one of the 3"), Error);
  CHECK_THROWS_WITH_AS(ConcatDataset(std::vector<Letters>()), doctest::Contains("no data sets"), Error);
  CHECK(ConcatDataset(TensorDataset(torch::ones({2, 3})), TensorDataset(torch::ones({1, 3}))).get_batch({}).sizes() ==
        at::IntArrayRef({0, 3}));
}
