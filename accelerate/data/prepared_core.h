#pragma once

// What prepared loaders of every batch type have in common: this rank's share of each epoch, and the place in it.

#include <memory>

#include "accelerate/data/loader_core.h"
#include "accelerate/data/prepare_options.h"
#include "accelerate/data/shard.h"

namespace accelerate::data {

/// What an epoch begins with.
struct EpochStart {
  BatchStream batches;               // map-style: the batches this rank reads
  int64_t skip = 0;                  // iterable: batches to read and leave out
  std::shared_ptr<EpochEnd> end;     // filled when the last batch has been read
  at::Tensor first_read_state = {};  // of a resumed epoch: the global generator's, when its first batch was first read
};

/// Where the walks over a loader are.
struct LoaderPlace {
  int64_t iteration = 0;             // the epoch that runs or comes next
  int64_t batches_seen = 0;          // of it
  bool resumed = false;              // the next epoch has drawn its random numbers before
  at::Tensor read_ahead_state = {};  // see LoaderState
};

class PreparedCore {
 public:
  /// Collective. Throws Error where the configuration does not go with the loader. A shuffle without a generator gets
  /// one, so that ranks can keep it in step.
  PreparedCore(std::shared_ptr<LoaderCore> loader, PrepareOptions options);

  const LoaderCore& loader() const { return *loader_; }
  const PrepareOptions& options() const { return options_; }
  int rank() const { return rank_; }
  int world_size() const { return world_size_; }

  /// Whether rank 0 reads for all.
  bool dispatches() const { return dispatches_; }

  /// Starts an epoch. Collective.
  EpochStart begin();

  /// What rank 0 leaves out to skip `num_rounds` of all ranks: all but the first, from which it may have to complete
  /// the last.
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

  /// The same loader, at the same place whichever of both is walked over, but that its next epoch begins after
  /// `num_batches`. What load_state_dict() made the next epoch of this one leave out is part of them.
  std::shared_ptr<PreparedCore> skipping(int64_t num_batches);

  /// A batch is about to be read, one ahead of those that are seen.
  void note_read_ahead();

  LoaderState state_dict() const;
  void load_state_dict(const LoaderState& state);
  /// Throws Error where load_state_dict() would. Nothing changes.
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
  int64_t skip_ = 0;  // batches that the next epoch leaves out
  std::shared_ptr<LoaderProgress> progress_;
};

}  // namespace accelerate::data
