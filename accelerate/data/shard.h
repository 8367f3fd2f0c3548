#pragma once

// Which batches of a map-style data set each rank reads, so that together the ranks see every sample. Index arithmetic
// only: a rank can compute any other's share, and nothing is sent.

#include "accelerate/data/stream.h"

namespace accelerate::data {

struct ShardOptions {
  int rank = 0;
  int world_size = 1;
  std::optional<int64_t> batch_size = std::nullopt;  // nothing: batches have different sizes
  bool drop_last = false;
  bool split_batches = false;  // one batch shared by the ranks, instead of one batch for each
  bool even_batches = true;    // repeat samples from the start so that all ranks take as many steps
};

/// Throws Error unless the ranks can share a batch of that size equally.
void check_split(std::optional<int64_t> batch_size, int world_size);

/// Gives the batches of one rank, in the order it reads them, while walking once through those of all ranks. Holds the
/// indices of `world_size` batches at most.
class BatchShard {
 public:
  /// Throws Error if batches are to be split and cannot be: see check_split.
  BatchShard(BatchStream batches, const ShardOptions& options);

  /// The next batch of this rank, or nothing at the end.
  std::optional<Indices> next();

  /// How many samples the ranks' last batches hold together, those repeated to even them out not counted. Known once
  /// next() has given nothing.
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
  int64_t round_size_ = 0;          // samples of the round being read: one batch for each rank, or one split among them
  std::vector<Indices> first_;      // batches of the first round, from which the last one is completed
  Indices last_;                    // the batch seen last
  std::vector<Indices> remaining_;  // what is left for this rank after the end of the batches, last one first
  std::optional<Indices> pending_;  // this rank's batch, held back until all ranks have theirs
  bool finished_ = false;
};

/// How many batches BatchShard gives this rank out of `num_batches`.
int64_t shard_length(int64_t num_batches, const ShardOptions& options);

}  // namespace accelerate::data
