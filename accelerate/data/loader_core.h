#pragma once

// What loaders of every batch type have in common: how samples are ordered, grouped and fetched.

#include <chrono>
#include <memory>
#include <utility>

#include "accelerate/data/batch_sampler.h"
#include "accelerate/data/reader.h"

namespace accelerate::data {

/// DataLoaderOptions without the function that depends on the batch's type.
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

class LoaderCore {
 public:
  /// Throws Error where the settings contradict each other or the data set.
  LoaderCore(std::shared_ptr<DataSource> source, LoaderSettings settings);

  DataSource& source() const { return *source_; }
  bool is_iterable() const { return source_->is_iterable(); }

  /// Null for iterable data sets.
  const std::shared_ptr<BatchSamplerBase>& batch_sampler() const { return settings_.batch_sampler; }

  /// Nothing where batches vary in size.
  std::optional<int64_t> batch_size() const;
  bool drop_last() const;

  /// How many batches an epoch has. Throws Error for an iterable data set without a size.
  int64_t size() const;

  /// Tells the samplers and the data set.
  void set_epoch(int64_t epoch) const;

  /// Python's loader draws a number for its worker processes at the start of each epoch. Ours draws it as well, so that
  /// what is drawn afterwards, the shuffle first of all, is the same.
  void draw_base_seed() const { draw_seed(settings_.generator); }

  /// The plain loader's way of reading an iterable data set: alone, and a short last batch stays short.
  IterableShardOptions whole_stream() const;

  PrefetchOptions prefetch() const;

  /// Batches that the next epoch leaves out; asking resets it.
  int64_t take_skip() { return std::exchange(skip_, 0); }
  int64_t skip() const { return skip_; }
  void set_skip(int64_t num_batches) { skip_ = num_batches; }

 private:
  std::shared_ptr<DataSource> source_;
  LoaderSettings settings_;
  int64_t skip_ = 0;
};

/// While this lives, threads may lower the number of threads that libtorch computes with in them; afterwards new
/// threads get the number they would have got before. libtorch keeps that number per thread, but remembers the last one
/// set.
class KeepThreadCount {
 public:
  KeepThreadCount();
  ~KeepThreadCount();
  KeepThreadCount(const KeepThreadCount&) = delete;
  KeepThreadCount& operator=(const KeepThreadCount&) = delete;

 private:
  int count_;
};

/// Batches made by the loader's workers, in order.
template <class BatchT>
Stream<BatchT> prefetched(Stream<Job<BatchT>> jobs, const LoaderCore& loader) {
  auto options = loader.prefetch();
  if (options.num_workers == 0) {
    return [jobs = std::move(jobs)]() -> std::optional<BatchT> {
      auto job = jobs();
      return job ? (*job)() : std::nullopt;
    };
  }
  KeepThreadCount keep;
  auto prefetcher = std::make_shared<OrderedPrefetcher<BatchT>>(std::move(jobs), options);
  return [prefetcher] { return prefetcher->next(); };
}

}  // namespace accelerate::data
