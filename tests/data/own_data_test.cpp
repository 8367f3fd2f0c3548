// Data sets, samples and batches of the user's own types.

#include <doctest/doctest.h>
#include <torch/data.h>

#include <algorithm>
#include <memory>
#include <ranges>

#include "accelerate/data/subset.h"
#include "accelerate/tensors/hidden_tensors.h"
#include "tests/data/loader_checks.h"

namespace {

using namespace accelerate;
using namespace accelerate::tests;

struct Picture {
  torch::Tensor pixels;
  int64_t label = 0;
};

struct PictureBatch {
  torch::Tensor pixels;
  torch::Tensor labels;
  std::vector<std::string> names;
};
auto tensor_fields(PictureBatch& batch) { return std::tie(batch.pixels, batch.labels, batch.names); }

/// Holds tensors, and does not say which.
struct SilentBatch {
  std::string name;
  torch::Tensor pixels;
};
struct NoTensors {
  std::string name;
  int64_t* pointer = nullptr;
};
struct ListBatch {
  int64_t count = 0;
  std::vector<torch::Tensor> tensors;
};

struct Pictures {
  int64_t size() const { return 5; }
  Picture get(int64_t index) const { return {torch::full({2}, index), index}; }
};

PictureBatch stack_pictures(const std::vector<Picture>& pictures) {
  PictureBatch batch;
  std::vector<torch::Tensor> pixels;
  std::vector<int64_t> labels;
  for (const auto& picture : pictures) {
    pixels.push_back(picture.pixels);
    labels.push_back(picture.label);
    batch.names.push_back("picture " + std::to_string(picture.label));
  }
  batch.pixels = torch::stack(pixels);
  batch.labels = torch::tensor(labels);
  return batch;
}

template <class Loader>
Batches labels_of(Loader&& loader) {
  Batches labels;
  for (auto& batch : loader) {
    CHECK(to_vector(batch.pixels.select(1, 0)) == to_vector(batch.labels));
    CHECK(batch.names.front() == "picture " + std::to_string(batch.labels[0].template item<int64_t>()));
    labels.push_back(to_vector(batch.labels));
  }
  return labels;
}

/// A stream with state: an epoch begins with reset().
struct CountDown {
  int64_t from = 3;
  int64_t left = 0;
  void reset() { left = from; }
  std::optional<int64_t> next() { return left == 0 ? std::nullopt : std::optional<int64_t>(left--); }
};

struct AbstractNumbers {
  virtual ~AbstractNumbers() = default;
  virtual int64_t size() const = 0;
  virtual int64_t get(int64_t index) const = 0;
};
struct Doubles : AbstractNumbers {
  int64_t size() const override { return 3; }
  int64_t get(int64_t index) const override { return 2 * index; }
};

/// A data set with get_batch of the type that C++ programs have for indices.
struct SizedBatches {
  size_t size() const { return 3; }
  torch::Tensor get_batch(const std::vector<size_t>& indices) const {
    return torch::tensor(std::vector<int64_t>(indices.begin(), indices.end())) * 10;
  }
};

/// Chunks of torch's ChunkDataset: 0 to 2, and 3 to 5.
struct NumberChunks : torch::data::datasets::ChunkDataReader<int64_t> {
  using BatchType = std::vector<int64_t>;
  std::vector<int64_t> read_chunk(size_t chunk) override {
    const auto first = static_cast<int64_t>(3 * chunk);
    return {first, first + 1, first + 2};
  }
  size_t chunk_count() override { return 2; }
  void reset() override {}
};

const Batches kPictureBatches = {{0, 1}, {2, 3}, {4}};

}  // namespace

TEST_CASE("a collate function over samples works for tensors, whose batches need none") {
  auto x = torch::arange(6).reshape({3, 2});
  auto y = torch::arange(3);
  auto sums = [](const std::vector<std::tuple<torch::Tensor, torch::Tensor>>& samples) {
    std::vector<int64_t> numbers;
    for (const auto& [row, label] : samples) {
      CHECK((row.dim() == 1 && label.dim() == 0));
      numbers.push_back((row.sum() + 100 * label).item<int64_t>());
    }
    return torch::tensor(numbers);
  };
  const Batches expected = {{1, 105}, {209}};
  CHECK(walk(DataLoader(TensorDataset(x, y), sums, {.batch_size = 2})) == expected);
  CHECK(walk(DataLoader(Subset(TensorDataset(x, y), {0, 1, 2}), sums, {.batch_size = 2})) == expected);

  auto last_first = [](std::vector<torch::Tensor>& rows) {
    std::reverse(rows.begin(), rows.end());
    return torch::stack(rows);
  };
  CHECK(walk(DataLoader(y, {.batch_size = 2, .collate = last_first})) == Batches{{1, 0}, {2}});

  // One that takes the batch gets the batch.
  CHECK(walk(DataLoader(TensorDataset(x, y),
                        [](std::tuple<torch::Tensor, torch::Tensor> batch) { return std::get<1>(batch); },
                        {.batch_size = 2})) == Batches{{0, 1}, {2}});

  // A batch by name, and a data set of libtorch's that stacks by itself.
  DataLoader named(
      TensorDataset(Batch{{"x", x}, {"y", y}}),
      [](const std::vector<Batch>& samples) {
        return torch::tensor({samples.front().at("y").item<int64_t>(), static_cast<int64_t>(samples.size())});
      },
      {.batch_size = 2});
  CHECK(walk(named) == Batches{{0, 2}, {2, 1}});
}

TEST_CASE("own samples become own batches through a collate function, in every form that names the batch") {
  CHECK(labels_of(DataLoader(Pictures(), stack_pictures, {.batch_size = 2})) == kPictureBatches);
  CHECK(labels_of(DataLoader<PictureBatch>(Pictures(), {.batch_size = 2, .collate = stack_pictures})) ==
        kPictureBatches);
  DataLoader by_reference(Pictures(), [](std::vector<Picture>& samples) { return stack_pictures(samples); },
                          {.batch_size = 2});
  CHECK(labels_of(by_reference) == kPictureBatches);
  DataLoader generic(Pictures(), [](const auto& samples) { return stack_pictures(samples); }, {.batch_size = 2});
  CHECK(labels_of(generic) == kPictureBatches);
  auto owned = std::make_unique<int64_t>(100);
  DataLoader move_only(Pictures(), [owned = std::move(owned)](std::vector<Picture> samples) {
    return torch::tensor(*owned + samples.front().label);
  });
  CHECK(walk(move_only).at(4) == std::vector<int64_t>{104});
}

TEST_CASE("a prepared loader finds the tensors of own batches that name them") {
  auto loader = prepare_data_loader(DataLoader(Pictures(), stack_pictures, {.batch_size = 1, .num_workers = 2}),
                                    {.num_processes = 2, .process_index = 1});
  CHECK(labels_of(loader) == Batches{{1}, {3}, {0}});
  CHECK(tensors::tensors_of(stack_pictures({Pictures().get(3)})).size() == 2);
}

TEST_CASE("structs with tensors that nobody named are known, wherever they are") {
  CHECK(tensors::hides_tensors<SilentBatch>);
  CHECK(tensors::hides_tensors<ListBatch>);
  CHECK(tensors::hides_tensors<std::pair<int, SilentBatch>>);
  CHECK(tensors::hides_tensors<std::vector<SilentBatch>>);
  CHECK(tensors::hides_tensors<Picture>);
  CHECK(!tensors::hides_tensors<PictureBatch>);
  CHECK(!tensors::hides_tensors<NoTensors>);
  CHECK(!tensors::hides_tensors<torch::Tensor>);
  CHECK(!tensors::hides_tensors<std::tuple<torch::Tensor, std::string>>);
  CHECK(!tensors::hides_tensors<torch::data::Example<>>);
  CHECK(!tensors::hides_tensors<Batch>);
  CHECK(!tensors::hides_tensors<std::string>);
}

TEST_CASE("a data set of one tensor works in every form") {
  const auto x = torch::arange(4);
  const Batches expected = {{0, 1, 2}, {3}};
  auto dataset = TensorDataset(x);
  TensorDataset declared(x);
  DataLoader named(dataset, {.batch_size = 3});
  DataLoader from_declared(declared, {.batch_size = 3});
  DataLoader braces{TensorDataset(x), {.batch_size = 3}};
  DataLoader braced_set(TensorDataset{x}, {.batch_size = 3});
  DataLoader rows(x, {.batch_size = 3});
  DataLoader expression(TensorDataset(x + 0), {.batch_size = 3});
  for (auto* loader : {&named, &from_declared, &braces, &braced_set, &rows, &expression}) {
    CHECK(walk(*loader) == expected);
    Batches taken_apart;
    for (auto& [values] : *loader) taken_apart.push_back(to_vector(values));
    CHECK(taken_apart == expected);
  }
  auto prepared = prepare_data_loader(named);
  Batches taken_apart;
  for (auto [values] : prepared) taken_apart.push_back(to_vector(values));
  CHECK(taken_apart == expected);
  for (auto& [values] : named) values.zero_();
  CHECK(walk(named) == expected);
  CHECK(dataset.get(2).item<int64_t>() == 2);
  CHECK(std::get<1>(TensorDataset(x, x + 1).get(2)).item<int64_t>() == 3);
  CHECK_THROWS_WITH_AS(dataset.get(4), "row 4 is not one of the 4 rows of the data set", Error);
}

TEST_CASE("a stream is a type with reset and next") {
  for (int num_workers : {0, 2}) {
    DataLoader loader(CountDown{5}, {.batch_size = 2, .num_workers = num_workers});
    CHECK(loader.is_iterable());
    CHECK(walks(loader, 2) == std::vector<Batches>(2, {{5, 4}, {3, 2}, {1}}));
    auto prepared = prepare_data_loader(loader, {.num_processes = 2, .process_index = 1});
    CHECK(walks(prepared, 2) == std::vector<Batches>(2, {{3, 2}, {4, 3}}));
  }
  CHECK(walk(DataLoader(std::views::iota(0, 3), {.batch_size = 2})) == Batches{{0, 1}, {2}});
}

TEST_CASE("a data set may be behind a pointer, also to a base class, and is shared then") {
  CHECK(walk(DataLoader(std::make_shared<CountDown>())) == Batches{{3}, {2}, {1}});
  std::shared_ptr<AbstractNumbers> abstract = std::make_shared<Doubles>();
  CHECK(walk(DataLoader(abstract, {.batch_size = 3})) == Batches{{0, 2, 4}});
  std::unique_ptr<AbstractNumbers> owned = std::make_unique<Doubles>();
  CHECK(walk(DataLoader(std::move(owned), {.batch_size = 3})) == Batches{{0, 2, 4}});
  auto pictures = std::make_shared<std::vector<int64_t>>(2, 7);
  DataLoader loader(pictures, {.batch_size = 2});
  pictures->front() = 5;
  CHECK(walk(loader) == Batches{{5, 7}});
  CHECK_THROWS_WITH_AS(DataLoader(std::shared_ptr<Doubles>()), doctest::Contains("null pointer"), Error);
}

TEST_CASE("get_batch may take indices as size_t") {
  CHECK(walk(DataLoader(SizedBatches(), {.batch_size = 2})) == Batches{{0, 10}, {20}});
}

TEST_CASE("torch's chunk data set streams, whatever its own batch size is") {
  using Chunks = torch::data::datasets::ChunkDataset<NumberChunks, torch::data::samplers::SequentialSampler,
                                                     torch::data::samplers::SequentialSampler>;
  for (size_t own_batch_size : {1, 2, 4}) {
    auto options = torch::data::datasets::ChunkDatasetOptions(/*preloader_count=*/1, own_batch_size);
    auto chunks =
        torch::data::datasets::make_shared_dataset<Chunks>(NumberChunks(), torch::data::samplers::SequentialSampler(2),
                                                           torch::data::samplers::SequentialSampler(0), options);
    CHECK(walks(DataLoader(chunks, {.batch_size = 3, .num_workers = 1}), 2) ==
          std::vector<Batches>(2, {{0, 1, 2}, {3, 4, 5}}));
  }
}
