// Batches from a loader; benchmarks/python/data_loader.py reads the same by torch's DataLoader. The data set is
//   a TensorDataset;
//   with --one_by_one a class of the user's that gives single samples;
//   with --libtorch the same, read by libtorch's own DataLoader;
//   with --texts the lines of a file, as tokens for --checkpoint, padded to the longest of their batch.
// With --prepared the loader is one that an Accelerator has prepared. With --bare there is no loader: the rows of each
// batch are copied, which every loader has to do.

#include <cstring>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include "accelerate/accelerate.h"
#include "benchmarks/side.h"
#include "transformers/transformers.h"

namespace {

constexpr int64_t kSamples = 20000, kValues = 784, kBatchSize = 64, kTokens = 128;

struct Rows {
  at::Tensor values = torch::rand({kSamples, kValues});
  at::Tensor labels = torch::arange(kSamples) % 10;
};

/// A data set as a user writes it.
struct Samples {
  Rows rows;
  size_t size() const { return kSamples; }
  std::tuple<at::Tensor, at::Tensor> get(size_t index) const {
    const auto row = static_cast<int64_t>(index);
    return {rows.values[row], rows.labels[row]};
  }
};

/// The same as a user writes it for libtorch.
struct LibtorchSamples : torch::data::Dataset<LibtorchSamples> {
  explicit LibtorchSamples(const Rows& rows) : rows(rows) {}
  std::optional<size_t> size() const override { return kSamples; }
  torch::data::Example<> get(size_t index) override {
    const auto row = static_cast<int64_t>(index);
    return {rows.values[row], rows.labels[row]};
  }
  Rows rows;
};

double mean_of(const at::Tensor& tensor) { return tensor.to(torch::kDouble).mean().item<double>(); }

int64_t num_samples(const accelerate::Batch& batch) { return batch.at("labels").size(0); }

template <class Pair>
int64_t num_samples(const Pair& batch) {
  const auto& [values, labels] = batch;
  return labels.size(0);
}

double checksum(const accelerate::Batch& batch) {
  return mean_of(batch.at("input_ids")) + mean_of(batch.at("attention_mask"));
}

template <class Pair>
double checksum(const Pair& batch) {
  const auto& [values, labels] = batch;
  return mean_of(values) + mean_of(labels);
}

/// A first epoch starts the workers, which then stay, and gives the checksums of the order; the epochs after it are
/// timed. `since_made` was started when the loader was made.
template <class Loader>
void measure_epochs(const bench::Arguments& arguments, Loader& loader, const bench::Stopwatch& since_made) {
  std::vector<double> checksums;
  double first_batch_seconds = 0;
  int64_t index = 0;
  for (auto& batch : loader) {
    if (index == 0) first_batch_seconds = since_made.wall_seconds();
    if (index++ % 20 == 0) checksums.push_back(checksum(batch));
  }
  bench::Stopwatch stopwatch;
  int64_t samples = 0;
  for (int64_t epoch = 0; epoch < arguments.number("--epochs", 3); ++epoch) {
    for (auto& batch : loader) samples += num_samples(batch);
  }
  bench::report(samples, stopwatch.wall_seconds(), stopwatch.cpu_seconds(), checksums,
                {{"first_batch_seconds", first_batch_seconds}});
}

int workers_of(const bench::Arguments& arguments) { return static_cast<int>(arguments.number("--workers", 0)); }

template <class Dataset, class... Collate>
void measure_loader(const bench::Arguments& arguments, Dataset dataset, Collate... collate) {
  bench::Stopwatch since_made;
  accelerate::DataLoader loader(std::move(dataset), std::move(collate)...,
                                {.batch_size = kBatchSize,
                                 .shuffle = !arguments.has("--in_order"),
                                 .num_workers = workers_of(arguments),
                                 .generator = at::make_generator<at::CPUGeneratorImpl>(0)});
  if (!arguments.has("--prepared")) return measure_epochs(arguments, loader, since_made);
  accelerate::Accelerator accelerator({.cpu = true});
  auto prepared = accelerator.prepare(loader);
  measure_epochs(arguments, prepared, since_made);
}

/// In order, for its random one is not ours.
void measure_libtorch(const bench::Arguments& arguments, const Rows& rows) {
  bench::Stopwatch since_made;
  auto options = torch::data::DataLoaderOptions().batch_size(kBatchSize).workers(workers_of(arguments));
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      LibtorchSamples(rows).map(torch::data::transforms::Stack<>()), options);
  measure_epochs(arguments, *loader, since_made);
}

void measure_texts(const bench::Arguments& arguments) {
  std::ifstream file(arguments.text("--texts", ""));
  std::vector<transformers::LabelledText> rows;
  for (std::string line; std::getline(file, line);) {
    rows.push_back({.text = line, .label = static_cast<int64_t>(rows.size()) % 2});
  }
  auto tokenizer = transformers::AutoTokenizer::from_pretrained(arguments.text("--checkpoint", ""));
  transformers::TokenizedDataset tokens(transformers::TextDataset(std::move(rows)), tokenizer,
                                        {.max_length = kTokens, .cache = false, .progress_bar = false});
  measure_loader(arguments, std::move(tokens), transformers::DataCollatorWithPadding(tokenizer));
}

void measure_copies(const bench::Arguments& arguments, const Rows& rows) {
  std::vector<float> batch(kBatchSize * kValues);
  const float* values = rows.values.const_data_ptr<float>();
  bench::Stopwatch stopwatch;
  int64_t samples = 0;
  for (int64_t epoch = 0; epoch < arguments.number("--epochs", 3); ++epoch) {
    auto order = torch::randperm(kSamples);
    const int64_t* index = order.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < kSamples; ++i, ++samples) {
      std::memcpy(&batch[samples % kBatchSize * kValues], values + index[i] * kValues, kValues * sizeof(float));
    }
  }
  bench::report(samples, stopwatch.wall_seconds(), stopwatch.cpu_seconds(), {batch.front()});
}

}  // namespace

int main(int argc, char** argv) {
  bench::Arguments arguments(argc, argv);
  torch::manual_seed(0);
  if (arguments.has("--texts")) {
    measure_texts(arguments);
    return 0;
  }
  Rows rows;
  if (arguments.has("--bare"))
    measure_copies(arguments, rows);
  else if (arguments.has("--libtorch"))
    measure_libtorch(arguments, rows);
  else if (arguments.has("--one_by_one"))
    measure_loader(arguments, Samples{rows});
  else
    measure_loader(arguments, accelerate::TensorDataset(rows.values, rows.labels));
}
