#pragma once

// The part of a loader that does not depend on the batch type: sampling, batching and prefetching.

#include <chrono>
#include <memory>
#include <utility>

#include "accelerate/data/generators.h"
#include "accelerate/data/reader.h"
#include "accelerate/data/samplers.h"

namespace accelerate::data {

/// DataLoaderOptions without the collate function, whose type depends on the batch type.
struct LoaderSettings {
  int64_t batch_size = 1;
  bool shuffle = false;
  int num_workers = 0;
  bool drop_last = false;
  int64_t prefetch_factor = 2;
  std::shared_ptr<Sampler> sampler;
  std::shared_ptr<BatchSamplerBase> batch_sampler;
  at::Generator generator;
  std::chrono::milliseconds timeout;
};

/// Whether batches can be copied to page-locked memory, from which copies to a GPU overlap with computation.
bool can_pin_memory();

/// Returns a copy in page-locked memory.
at::Tensor pinned(const at::Tensor& tensor);

class LoaderCore {
 public:
  /// Throws Error if the settings contradict each other or the data set.
  LoaderCore(std::shared_ptr<DataSource> source, LoaderSettings settings);

  DataSource& source() const { return *source_; }
  bool is_iterable() const { return source_->is_iterable(); }

  /// Null for iterable data sets.
  const std::shared_ptr<BatchSamplerBase>& batch_sampler() const { return settings_.batch_sampler; }

  /// Nothing if batches vary in size.
  std::optional<int64_t> batch_size() const;
  bool drop_last() const;

  /// The number of batches in an epoch. Throws Error for an iterable data set without a size.
  int64_t size() const;

  /// Tells the batch sampler and the data set the number of the next epoch.
  void set_epoch(int64_t epoch) const;

  /// Draws a seed and discards it. Python's loader draws one for its worker processes at the start of each epoch; doing
  /// the same keeps later draws, such as the shuffle, identical.
  void draw_base_seed() const { draw_seed(settings_.generator); }

  /// How a plain loader reads an iterable data set: as one rank, without padding the last batch.
  IterableShardOptions whole_stream() const;

  PrefetchOptions prefetch_options() const;

  /// Returns the number of batches that the next epoch skips, and resets it to 0.
  int64_t take_skip() { return std::exchange(skip_, 0); }
  int64_t skip() const { return skip_; }
  void set_skip(int64_t num_batches) { skip_ = num_batches; }

 private:
  std::shared_ptr<DataSource> source_;
  LoaderSettings settings_;
  int64_t skip_ = 0;
};

/// Restores libtorch's thread count on destruction. The count is per thread, but new threads inherit the last one set
/// anywhere, and workers set theirs to 1.
class KeepThreadCount {
 public:
  KeepThreadCount();
  ~KeepThreadCount();
  KeepThreadCount(const KeepThreadCount&) = delete;
  KeepThreadCount& operator=(const KeepThreadCount&) = delete;

 private:
  int count_;
};

/// Starts the loader's workers on the jobs.
template <class BatchT>
OrderedPrefetcher<BatchT> prefetched(Stream<Job<BatchT>> jobs, const LoaderCore& loader) {
  KeepThreadCount keep;
  return OrderedPrefetcher<BatchT>(std::move(jobs), loader.prefetch_options());
}

}  // namespace accelerate::data
