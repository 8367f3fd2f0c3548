#pragma once

// Shards the batches of a map-style data set, so that together the ranks see every sample. Index arithmetic only,
// without communication: a rank can compute any other rank's shard.

#include <algorithm>
#include <cassert>
#include <utility>

#include "accelerate/data/stream.h"

namespace accelerate::data {

struct ShardOptions {
  int rank = 0;
  int world_size = 1;
  std::optional<int64_t> batch_size = std::nullopt;  // nothing: sizes vary
  bool drop_last = false;
  bool split_batches = false;  // split each batch among the ranks, instead of one batch per rank
  bool even_batches = true;    // repeat samples from the start so that all ranks take the same number of steps
};

/// Throws Error unless batches of this size can be split equally among the ranks.
void check_split(std::optional<int64_t> batch_size, int world_size);

/// Returns the batches of one rank, in order, in one pass over the batches of all ranks. Holds the indices of about
/// `world_size` batches.
class BatchShard {
 public:
  /// Throws Error if batches are to be split and cannot be, see check_split().
  BatchShard(BatchStream batches, const ShardOptions& options);

  /// Returns the next batch of this rank, or nothing at the end.
  std::optional<Indices> next();

  /// The number of samples in the last batches of all ranks, without repeated ones. Valid once next() has returned
  /// nothing.
  int64_t last_round_size() const { return round_size_; }

 private:
  std::optional<Indices> next_whole();
  std::optional<Indices> next_part();
  std::optional<Indices> last_part() const;
  void finish_round();
  std::optional<Indices> take_pending();
  bool is_full(const Indices& batch) const;
  Indices part_of(const Indices& batch) const;

  BatchStream batches_;
  ShardOptions options_;
  int64_t num_batches_ = 0;         // seen so far
  int64_t round_size_ = 0;          // samples in the current round: one batch per rank, or one split among them
  std::vector<Indices> first_;      // batches of the first round, to pad the last one
  Indices last_;                    // the batch seen last
  std::vector<Indices> remaining_;  // this rank's batches after the end of the stream, last one first
  std::optional<Indices> pending_;  // this rank's batch, held back until all ranks have one
  bool finished_ = false;
};

/// The number of batches that this rank gets from BatchShard out of `num_batches`.
int64_t shard_length(int64_t num_batches, const ShardOptions& options);

struct IterableShardOptions {
  int rank = 0;
  int world_size = 1;
  int64_t batch_size = 1;
  bool drop_last = false;
  bool split_batches = false;  // split each batch among the ranks, instead of one batch per rank
  bool complete_last = true;   // pad an incomplete last round with samples from the start

  /// Samples in the batches of all ranks together.
  int64_t round_size() const { return split_batches ? batch_size : batch_size * world_size; }
  /// Samples of one rank's batch.
  int64_t part_size() const { return split_batches ? batch_size / world_size : batch_size; }
};

/// Returns this rank's slice of every round of samples. Holds one slice in memory, and the first round if the last one
/// may have to be padded.
template <class Sample>
class IterableShard {
 public:
  IterableShard(Stream<Sample> samples, const IterableShardOptions& options)
      : samples_(std::move(samples)), options_(options), keep_first_(!options.drop_last && options.complete_last) {
    assert(0 <= options.rank && options.rank < options.world_size);
  }

  /// Returns the samples of this rank's next batch, or nothing at the end.
  std::optional<std::vector<Sample>> next() {
    if (finished_) return std::nullopt;
    const int64_t begin = options_.rank * options_.part_size();
    const int64_t end = begin + options_.part_size();
    std::vector<Sample> part;
    int64_t count = 0;
    for (; count < options_.round_size(); ++count) {
      auto sample = samples_();
      if (!sample) break;
      if (keep_first_) first_.push_back(*sample);
      if (begin <= count && count < end) part.push_back(std::move(*sample));
    }
    finished_ = count < options_.round_size();
    if (finished_ && (count == 0 || options_.drop_last)) return std::nullopt;
    keep_first_ = false;
    last_round_size_ = count;
    assert(0 < count && count <= options_.round_size());
    if (finished_ && options_.complete_last) {
      for (int64_t place = std::max(begin, count); place < end; ++place) {
        assert(!first_.empty());
        part.push_back(first_[(place - count) % first_.size()]);
      }
    }
    return part;
  }

  /// The number of samples in the last round returned, without repeated ones.
  int64_t last_round_size() const { return last_round_size_; }

 private:
  Stream<Sample> samples_;
  IterableShardOptions options_;
  std::vector<Sample> first_;
  int64_t last_round_size_ = 0;
  bool keep_first_;
  bool finished_ = false;
};

/// The number of batches that each rank gets from IterableShard for `num_samples` samples.
inline int64_t iterable_shard_length(int64_t num_samples, const IterableShardOptions& options) {
  const int64_t incomplete = num_samples % options.round_size() != 0 && !options.drop_last ? 1 : 0;
  return num_samples / options.round_size() + incomplete;
}

}  // namespace accelerate::data
