#pragma once

// Reads a data set: the batches of indices of an epoch, and an interface to the data set and its collate function that
// depends only on the batch type.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "accelerate/base/scope.h"
#include "accelerate/data/dataset.h"
#include "accelerate/data/loader_batch.h"
#include "accelerate/data/loader_position.h"
#include "accelerate/data/prefetcher.h"
#include "accelerate/data/shard.h"

namespace accelerate::data {

/// A data set without its type.
class DataSource {
 public:
  virtual ~DataSource() = default;
  virtual bool is_iterable() const = 0;
  virtual std::optional<int64_t> num_samples() const = 0;
  virtual void set_epoch(int64_t epoch) = 0;
};

/// The batches of indices that a rank reads in one epoch: its shard of the batch sampler's, without those to skip.
class EpochBatches {
 public:
  /// For a reader of all batches.
  EpochBatches(BatchStream batches, const Skip& skip) : batches_(std::move(batches)), skip_(skip) {}

  /// For a rank that reads its shard. The end sets `progress->last_round_size`.
  EpochBatches(BatchStream batches, const Skip& skip, const ShardOptions& shard,
               std::shared_ptr<LoaderProgress> progress)
      : shard_(BatchShard(std::move(batches), shard)), skip_(skip), progress_(std::move(progress)) {}

  /// Returns the next batch, or nothing at the end.
  std::optional<Indices> next() {
    if (num_returned_++ == skip_.after) {
      for (int64_t i = 0; i < skip_.count; ++i) {
        if (!read()) break;
      }
    }
    return read();
  }

 private:
  std::optional<Indices> read() {
    if (!shard_) return batches_();
    auto batch = shard_->next();
    if (!batch) progress_->last_round_size = shard_->last_round_size();
    return batch;
  }

  BatchStream batches_;              // without a shard
  std::optional<BatchShard> shard_;  // has the batches otherwise
  Skip skip_;
  int64_t num_returned_ = 0;
  std::shared_ptr<LoaderProgress> progress_;
};

/// Turns an epoch into jobs. Each makes one batch and may run in any thread.
template <class BatchT>
class Reader : public DataSource {
 public:
  /// For map-style data sets: one job per list of indices.
  virtual Stream<Job<BatchT>> jobs(EpochBatches batches) const = 0;

  /// For iterable data sets: one pass over the stream, without the batches to skip. Jobs read one at a time, in the
  /// order of the stream. Each job with samples updates `progress->last_round_size`, unless it is null.
  virtual Stream<Job<BatchT>> jobs(const IterableShardOptions& shard, const Skip& skip,
                                   std::shared_ptr<LoaderProgress> progress) const = 0;
};

/// Reads a data set of any kind and makes batches of one type.
template <Dataset D, class BatchT>
class DatasetReader : public Reader<BatchT> {
 public:
  using Collate = CollateFunction<collate_input_t<D>, BatchT>;

  DatasetReader(std::shared_ptr<D> dataset, Collate collate)
      : dataset_(std::move(dataset)), collate_(std::make_shared<Collate>(std::move(collate))) {}

  bool is_iterable() const override { return IterableDataset<D>; }
  std::optional<int64_t> num_samples() const override { return dataset_size(*dataset_); }

  void set_epoch(int64_t epoch) override {
    if constexpr (requires { dataset_->set_epoch(epoch); }) dataset_->set_epoch(epoch);
  }

  Stream<Job<BatchT>> jobs(EpochBatches batches) const override {
    if constexpr (!MapStyleDataset<D>) {
      fail("an iterable data set has no samples by index");
    } else {
      return [dataset = dataset_, collate = collate_,
              batches = std::move(batches)]() mutable -> std::optional<Job<BatchT>> {
        auto indices = batches.next();
        if (!indices) return std::nullopt;
        return [dataset, collate, indices = std::move(*indices)]() -> std::optional<BatchT> {
          return (*collate)(read_samples(*dataset, indices));
        };
      };
    }
  }

  Stream<Job<BatchT>> jobs(const IterableShardOptions& shard, const Skip& skip,
                           std::shared_ptr<LoaderProgress> progress) const override {
    if constexpr (!IterableDataset<D>) {
      fail("a map-style data set is read by index");
    } else {
      auto reading = std::make_shared<Reading>(stream_samples(dataset_), shard, skip, std::move(progress));
      return [reading, collate = collate_, turn = int64_t{0}]() mutable -> std::optional<Job<BatchT>> {
        return [reading, collate, turn = turn++]() -> std::optional<BatchT> {
          auto samples = reading->next(turn);
          if (!samples) return std::nullopt;
          return (*collate)(std::move(*samples));
        };
      };
    }
  }

 private:
  /// One pass over an iterable data set by several threads in turn.
  class Reading {
   public:
    using Samples = collate_input_t<D>;

    Reading(Stream<typename Samples::value_type> samples, const IterableShardOptions& options, const Skip& skip,
            std::shared_ptr<LoaderProgress> progress)
        : shard_(std::move(samples), options), skip_(skip), progress_(std::move(progress)) {}

    std::optional<Samples> next(int64_t turn) {
      std::unique_lock lock(mutex_);
      turn_came_.wait(lock, [&] { return turn_ == turn; });
      ScopeExit pass_on([&] {
        ++turn_;
        turn_came_.notify_all();
      });
      if (turn == skip_.after) {
        for (int64_t i = 0; i < skip_.count; ++i) shard_.next();
      }
      auto samples = shard_.next();
      // Not after the end: the loader may already be reading it while prefetching threads run past the end.
      if (samples && progress_) progress_->last_round_size = shard_.last_round_size();
      return samples;
    }

   private:
    std::mutex mutex_;
    std::condition_variable turn_came_;
    int64_t turn_ = 0;
    IterableShard<typename Samples::value_type> shard_;
    Skip skip_;
    std::shared_ptr<LoaderProgress> progress_;
  };

  std::shared_ptr<D> dataset_;
  std::shared_ptr<Collate> collate_;
};

}  // namespace accelerate::data
