#pragma once

// The part of a prepared loader that does not depend on the batch type: this rank's shard of each epoch, and the
// position in it.

#include <memory>

#include "accelerate/data/loader_core.h"
#include "accelerate/data/prepare_options.h"
#include "accelerate/data/shard.h"

namespace accelerate::data {

/// What begin() returns.
struct EpochStart {
  BatchStream batches;               // map-style: the batches this rank reads
  int64_t skip = 0;                  // iterable: batches to read and discard
  std::shared_ptr<EpochEnd> end;     // filled when the last batch has been read
  at::Tensor first_read_state = {};  // resumed epoch: global generator state before its first batch was first read
};

/// The position of a loader. Shared by the cores that skipping() returns.
struct LoaderPlace {
  int64_t iteration = 0;             // the current epoch, or the next one between epochs
  int64_t batches_seen = 0;          // of this epoch
  bool resumed = false;              // the next epoch made its initial draws before it was saved
  at::Tensor read_ahead_state = {};  // see LoaderState
};

class PreparedCore {
 public:
  /// Collective. Throws Error if the configuration does not suit the loader. A random sampler without a generator gets
  /// one if the ranks shard the data, so that it can be synchronized.
  PreparedCore(std::shared_ptr<LoaderCore> loader, PrepareOptions options);

  const LoaderCore& loader() const { return *loader_; }
  const PrepareOptions& options() const { return options_; }
  int rank() const { return rank_; }
  int world_size() const { return world_size_; }

  /// Whether rank 0 reads for all ranks.
  bool dispatches() const { return dispatches_; }

  /// Starts an epoch. Collective.
  EpochStart begin();

  /// The batches that rank 0 does not read to skip `num_rounds` rounds: all but the first round, which may be needed to
  /// pad the last one.
  Skip dispatch_skip(int64_t num_rounds) const;
  int64_t batches_per_dispatch() const { return options_.configuration.split_batches ? 1 : world_size_; }

  /// How this rank reads an iterable data set.
  IterableShardOptions stream_share() const;

  int64_t size() const;
  int64_t total_batch_size() const;
  int64_t total_dataset_length() const;

  int64_t iteration() const { return place_->iteration; }
  void set_epoch(int64_t epoch) { place_->iteration = epoch; }
  void set_even_batches(bool even_batches) { options_.configuration.even_batches = even_batches; }

  /// Returns a core that shares this one's position and whose next epoch skips the first `num_batches` batches. They
  /// include those that this core would have skipped after load_state_dict(): its own next epoch skips none.
  std::shared_ptr<PreparedCore> skipping(int64_t num_batches);

  /// Call it before a batch is read ahead: records the state of the global generator.
  void note_read_ahead();

  LoaderState state_dict() const;
  void load_state_dict(const LoaderState& state);
  /// Throws Error if load_state_dict() would. Changes nothing.
  void check_state(const LoaderState& state) const;

  LoaderProgress progress() const { return progress_ ? *progress_ : LoaderProgress(); }

 private:
  friend class EpochRun;

  void choose_sampler();
  template <class Kind>
  std::shared_ptr<Kind> sampler_of() const;
  void synchronize_generators() const;
  bool shards() const { return world_size_ > 1 && !dispatches_; }
  ShardOptions shard() const;
  BatchStream own_batches(int64_t skip, std::shared_ptr<EpochEnd> end) const;
  int64_t whole_size() const;
  int64_t known_remainder() const;

  std::shared_ptr<LoaderCore> loader_;
  PrepareOptions options_;
  int rank_;
  int world_size_;
  bool dispatches_;
  std::shared_ptr<LoaderPlace> place_ = std::make_shared<LoaderPlace>();
  int64_t skip_ = 0;  // batches that the next epoch skips
  std::shared_ptr<LoaderProgress> progress_;
};

}  // namespace accelerate::data
