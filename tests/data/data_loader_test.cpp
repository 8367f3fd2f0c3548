#include "accelerate/data/data_loader.h"

#include <doctest/doctest.h>
#include <torch/data.h>

#include <atomic>
#include <thread>

#include "tests/data/loader_checks.h"

namespace {

using namespace accelerate;
using namespace accelerate::tests;

/// A user's data set: a size, and samples by index.
struct Squares {
  int64_t count = 10;
  int64_t size() const { return count; }
  std::pair<torch::Tensor, int64_t> get(int64_t index) const { return {torch::full({2}, index * index), index}; }
};

struct TorchSquares : torch::data::Dataset<TorchSquares> {
  torch::data::Example<> get(size_t index) override {
    auto number = static_cast<int64_t>(index);
    return {torch::full({2}, number), torch::tensor(number * number)};
  }
  std::optional<size_t> size() const override { return 5; }
};

/// A torch data set that only streams.
struct TorchStream : torch::data::datasets::StatefulDataset<TorchStream, std::vector<int64_t>> {
  int64_t next = 0;
  std::optional<std::vector<int64_t>> get_batch(size_t count) override {
    std::vector<int64_t> numbers;
    while (numbers.size() < count && next < 5) numbers.push_back(next++);
    if (numbers.empty()) return std::nullopt;
    return numbers;
  }
  std::optional<size_t> size() const override { return std::nullopt; }
  void reset() override { next = 0; }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}
};

struct Fragile {
  int64_t bad_index;
  int64_t size() const { return 10; }
  int64_t get(int64_t index) const {
    if (index == bad_index) fail("sample ", index, " is broken");
    return index;
  }
};

struct Opaque {
  int64_t number;
};

class PairsOfLikeNumbers : public BatchSamplerBase {
 public:
  data::BatchStream begin() override {
    return [next = int64_t{0}]() mutable -> std::optional<data::Indices> {
      if (next == 3) return std::nullopt;
      auto first = next++;
      return data::Indices{first, first + 3};
    };
  }
  int64_t size() const override { return 3; }
};

}  // namespace

TEST_CASE("a loader walks over any map-style data set: one with get, a vector, torch's own, tensors") {
  DataLoader squares(Squares(), {.batch_size = 4});
  CHECK(squares.size() == 3);
  std::vector<int64_t> labels;
  for (auto& [pixels, label] : squares) {
    CHECK(pixels.select(1, 0).equal(label * label));
    for (auto value : to_vector(label)) labels.push_back(value);
  }
  CHECK(labels == to_vector(torch::arange(10)));

  CHECK(walk(DataLoader(std::vector<int>{5, 6, 7}, {.batch_size = 2})) == Batches{{5, 6}, {7}});
  CHECK(walk(DataLoader(std::vector<int>{5, 6, 7})) == Batches{{5}, {6}, {7}});

  for (auto& example : DataLoader(TorchSquares(), {.batch_size = 5})) {
    CHECK(example.data.sizes() == at::IntArrayRef({5, 2}));
    CHECK(to_vector(example.target) == std::vector<int64_t>{0, 1, 4, 9, 16});
  }
  for (auto& example : DataLoader(TorchSquares().map(torch::data::transforms::Stack<>()), {.batch_size = 5})) {
    CHECK(to_vector(example.target) == std::vector<int64_t>{0, 1, 4, 9, 16});
  }
  for (auto& [x, y] : DataLoader(TensorDataset(torch::arange(4), torch::arange(4, 8)), {.batch_size = 4})) {
    CHECK(y.equal(x + 4));
  }
  for (auto& batch : DataLoader(TensorDataset(Batch{{"ids", torch::arange(3)}}), {.batch_size = 3})) {
    CHECK(batch.at("ids").equal(torch::arange(3)));
  }
}

TEST_CASE("a batch of a tensor data set is a copy, in order or not") {
  auto rows = torch::arange(6).view({3, 2});
  TensorDataset dataset(rows);
  auto consecutive = dataset.get_batch({1, 2});
  CHECK(consecutive.equal(rows.slice(0, 1, 3)));
  consecutive.zero_();
  CHECK(dataset.get_batch({2, 0}).equal(torch::tensor({{4, 5}, {0, 1}})));
  CHECK(dataset.get_batch({}).sizes() == at::IntArrayRef({0, 2}));
  CHECK(TensorDataset(rows.t()).get_batch({1, 0}).equal(torch::tensor({{1, 3, 5}, {0, 2, 4}})));
  CHECK(TensorDataset(torch::empty({2, 0})).get_batch({1, 0}).sizes() == at::IntArrayRef({2, 0}));
  CHECK(TensorDataset(torch::ones({2, 1}).requires_grad_()).get_batch({1, 0}).requires_grad());
  CHECK_THROWS_WITH_AS(dataset.get_batch({0, 3}), doctest::Contains("row 3 is not one of the 3 rows"), Error);
  CHECK_THROWS_WITH_AS(TensorDataset(torch::zeros({3}), torch::zeros({2})), doctest::Contains("one with 3 rows"),
                       Error);
}

TEST_CASE("a loader walks over iterable data sets, whose number of batches may be unknown") {
  for (int num_workers : {0, 1, 3}) {
    DataLoader stream(NumberStream{7}, {.batch_size = 3, .num_workers = num_workers});
    CHECK(walks(stream, 2) == std::vector<Batches>(2, {{0, 1, 2}, {3, 4, 5}, {6}}));
    CHECK(stream.is_iterable());
    CHECK_THROWS_WITH_AS(stream.size(), doctest::Contains("no size()"), Error);
  }
  SizedNumberStream sized;
  sized.count = 7;
  CHECK(DataLoader(sized, {.batch_size = 3}).size() == 3);
  DataLoader full_batches(sized, {.batch_size = 3, .drop_last = true});
  CHECK(full_batches.size() == 2);
  CHECK(walk(full_batches) == Batches{{0, 1, 2}, {3, 4, 5}});
  CHECK(walks(DataLoader(TorchStream(), {.batch_size = 2}), 2) == std::vector<Batches>(2, {{0, 1}, {2, 3}, {4}}));
}

TEST_CASE("a collate function makes the batch; it comes first where its result is of another type") {
  auto reversed = [](std::vector<int> samples) {
    return torch::tensor(std::vector<int>(samples.rbegin(), samples.rend()));
  };
  CHECK(walk(DataLoader(std::vector<int>{1, 2, 3, 4}, {.batch_size = 2, .collate = reversed})) ==
        Batches{{2, 1}, {4, 3}});

  DataLoader sums(std::vector<Opaque>{{1}, {2}, {3}},
                  [](const std::vector<Opaque>& samples) {
                    int64_t sum = 0;
                    for (auto& sample : samples) sum += sample.number;
                    return std::to_string(sum);
                  },
                  {.batch_size = 2});
  std::vector<std::string> seen;
  for (auto& sum : sums) seen.push_back(sum);
  CHECK(seen == std::vector<std::string>{"3", "3"});
}

TEST_CASE("batches are the same with any number of workers, in every epoch and after leaving early") {
  const auto expected = walk(DataLoader(numbers(100), {.batch_size = 7}));
  for (int num_workers : {1, 2, 5}) {
    DataLoader loader(numbers(100), {.batch_size = 7, .num_workers = num_workers});
    CHECK(walk(loader) == expected);
    for ([[maybe_unused]] auto& batch : loader) break;
    CHECK(walk(loader) == expected);
  }
}

TEST_CASE("an exception in a worker arrives in its place, and the loader can be walked again") {
  for (int num_workers : {0, 2}) {
    DataLoader loader(Fragile{5}, {.batch_size = 2, .num_workers = num_workers});
    for (int epoch = 0; epoch < 2; ++epoch) {
      Batches seen;
      auto walk_on = [&] {
        for (auto& batch : loader) seen.push_back(to_vector(batch));
      };
      CHECK_THROWS_WITH_AS(walk_on(), "sample 5 is broken", Error);
      CHECK(seen == Batches{{0, 1}, {2, 3}});
    }
  }
}

TEST_CASE("a batch that takes too long is an error that names it") {
  struct Slow {
    int64_t size() const { return 3; }
    int64_t get(int64_t index) const {
      std::this_thread::sleep_for(std::chrono::milliseconds(index == 1 ? 500 : 0));
      return index;
    }
  };
  DataLoader loader(Slow(), {.num_workers = 1, .timeout = std::chrono::milliseconds(30)});
  CHECK_THROWS_WITH_AS(walk(loader), doctest::Contains("batch 1 was not ready after 30 ms"), Error);
}

TEST_CASE("two loaders, and one loader twice, can be walked in nested loops") {
  DataLoader outer(numbers(4), {.batch_size = 2, .num_workers = 1});
  DataLoader inner(numbers(3), {.num_workers = 2});
  int64_t sum = 0;
  for (auto& a : outer) {
    for (auto& b : inner) sum += a.sum().item<int64_t>() * b.item<int64_t>();
    for (auto& b : outer) sum += b.sum().item<int64_t>();
  }
  CHECK(sum == 6 * 3 + 2 * 6);
}

TEST_CASE("samplers and batch samplers of one's own decide the order and the batches") {
  struct Backwards : Sampler {
    data::IndexStream begin() override {
      return [next = int64_t{2}]() mutable -> std::optional<int64_t> {
        return next < 0 ? std::nullopt : std::optional<int64_t>(next--);
      };
    }
    int64_t size() const override { return 3; }
  };
  CHECK(walk(DataLoader(numbers(3), {.batch_size = 2, .sampler = std::make_shared<Backwards>()})) ==
        Batches{{2, 1}, {0}});
  DataLoader pairs(numbers(6), {.batch_sampler = std::make_shared<PairsOfLikeNumbers>()});
  CHECK(pairs.size() == 3);
  CHECK(walk(pairs) == Batches{{0, 3}, {1, 4}, {2, 5}});
}

TEST_CASE("settings that contradict each other are refused") {
  auto sampler = std::make_shared<SequentialSampler>(3);
  CHECK_THROWS_WITH_AS(DataLoader(numbers(3), {.batch_size = 0}), doctest::Contains("batch_size is 0"), Error);
  CHECK_THROWS_WITH_AS(DataLoader(numbers(3), {.num_workers = -1}), doctest::Contains("num_workers is -1"), Error);
  CHECK_THROWS_WITH_AS(DataLoader(numbers(3), {.shuffle = true, .sampler = sampler}), doctest::Contains("either"),
                       Error);
  CHECK_THROWS_WITH_AS(DataLoader(NumberStream{3}, {.shuffle = true}), doctest::Contains("iterable"), Error);
  CHECK_THROWS_WITH_AS(
      DataLoader(numbers(3), {.drop_last = true, .batch_sampler = std::make_shared<PairsOfLikeNumbers>()}),
      doctest::Contains("batch_sampler defines"), Error);
}

TEST_CASE("drop_last leaves out an incomplete batch, and an empty data set gives none") {
  DataLoader loader(numbers(5), {.batch_size = 2, .drop_last = true});
  CHECK(loader.size() == 2);
  CHECK(walk(loader) == Batches{{0, 1}, {2, 3}});
  CHECK(walk(DataLoader(numbers(0), {.batch_size = 2, .shuffle = true})).empty());
}

TEST_CASE("skip_first_batches leaves out batches once, and leaves the loader itself alone") {
  DataLoader loader(numbers(16), {.batch_size = 4, .drop_last = true});
  auto rest = skip_first_batches(loader, 2);
  CHECK(rest.size() == 2);
  CHECK(walk(rest) == Batches{{8, 9, 10, 11}, {12, 13, 14, 15}});
  CHECK(rest.size() == 4);
  CHECK(walk(rest).size() == 4);
  CHECK(walk(loader).size() == 4);
  CHECK(walk(skip_first_batches(DataLoader(NumberStream{5}, {.batch_size = 2}), 1)) == Batches{{2, 3}, {4}});
  CHECK(walk(skip_first_batches(loader, 9)).empty());
}

TEST_CASE("workers compute with one thread each, and change the count of no other thread") {
  struct ThreadCount {
    int64_t size() const { return 4; }
    int64_t get(int64_t) const { return at::get_num_threads(); }
  };
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  DataLoader loader(ThreadCount(), {.batch_size = 2, .num_workers = 2});
  CHECK(walk(loader) == Batches{{1, 1}, {1, 1}});
  CHECK(at::get_num_threads() == 3);
  int in_new_thread = 0;
  std::thread([&] { in_new_thread = at::get_num_threads(); }).join();
  CHECK(in_new_thread == 3);
  at::set_num_threads(before);
}

TEST_CASE("asking for pinned memory is harmless where there is no GPU") {
  CHECK(walk(DataLoader(numbers(3), {.batch_size = 3, .pin_memory = true})) == Batches{{0, 1, 2}});
}

TEST_CASE("the data set is told the epoch, and the loader keeps it alive") {
  struct EpochNumbers {
    int64_t epoch = 0;
    int64_t size() const { return 1; }
    int64_t get(int64_t) const { return epoch; }
    void set_epoch(int64_t value) { epoch = value; }
  };
  auto loader = [] { return DataLoader(EpochNumbers()); }();
  loader.set_epoch(7);
  CHECK(walk(loader) == Batches{{7}});
}
