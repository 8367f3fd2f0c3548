// Batches of a TensorDataset; benchmarks/python/data_loader.py reads Python's class of that name by torch's DataLoader.
// With --one_by_one the data set is a class of the user's that gives single samples. With --bare there is no loader:
// the rows of each batch are copied, which every loader has to do.

#include <cstring>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include "accelerate/data/data_loader.h"
#include "accelerate/data/tensor_dataset.h"
#include "benchmarks/side.h"

namespace {

constexpr int64_t kSamples = 20000, kValues = 784, kBatchSize = 64;

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

template <class Dataset>
void measure_loader(const bench::Arguments& arguments, Dataset dataset) {
  accelerate::DataLoader loader(std::move(dataset), {.batch_size = kBatchSize,
                                                     .shuffle = true,
                                                     .num_workers = static_cast<int>(arguments.number("--workers", 0)),
                                                     .generator = at::make_generator<at::CPUGeneratorImpl>(0)});
  std::vector<double> checksums;
  int64_t index = 0;
  for (auto& [values, labels] : loader) {
    if (index++ % 20 != 0) continue;
    checksums.push_back(values.to(torch::kDouble).mean().template item<double>() +
                        labels.to(torch::kDouble).mean().template item<double>());
  }
  bench::Stopwatch stopwatch;
  int64_t samples = 0;
  for (int64_t epoch = 0; epoch < arguments.number("--epochs", 3); ++epoch) {
    for (auto& [values, labels] : loader) samples += labels.size(0);
  }
  bench::report(samples, stopwatch.wall_seconds(), stopwatch.cpu_seconds(), checksums);
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
  Rows rows;
  if (arguments.has("--bare"))
    measure_copies(arguments, rows);
  else if (arguments.has("--one_by_one"))
    measure_loader(arguments, Samples{rows});
  else
    measure_loader(arguments, accelerate::TensorDataset(rows.values, rows.labels));
}
