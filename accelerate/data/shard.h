#pragma once

// Shards the batches of a map-style data set, so that together the ranks see every sample. Index arithmetic only,
// without communication: a rank can compute any other rank's shard.

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

}  // namespace accelerate::data
