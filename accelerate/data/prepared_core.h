#pragma once

// The part of a prepared loader that does not depend on the batch type: this rank's shard of each epoch, and the
// position in it.

#include <memory>

#include "accelerate/data/loader_core.h"
#include "accelerate/data/prepare_options.h"
#include "accelerate/data/shard.h"

namespace accelerate::data {

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

  /// The batches that rank 0 does not read to skip `num_rounds` rounds: all but the first round, which may be needed to
  /// pad the last one.
  Skip dispatch_skip(int64_t num_rounds) const;
  int64_t batches_per_dispatch() const { return options_.configuration.split_batches ? 1 : world_size_; }

  /// How this rank reads an iterable data set.
  IterableShardOptions stream_shard() const;

  int64_t size() const;
  int64_t total_batch_size() const;
  int64_t total_dataset_length() const;

  int64_t iteration() const { return position_->epoch; }
  void set_epoch(int64_t epoch) { position_->epoch = epoch; }
  void set_even_batches(bool even_batches) { options_.configuration.even_batches = even_batches; }

  /// Returns a core that shares this one's position and whose next epoch skips the first `num_batches` batches. They
  /// include those that this core would have skipped after load_state_dict(): its own next epoch skips none.
  std::shared_ptr<PreparedCore> skipping(int64_t num_batches);

  LoaderPosition state_dict() const;
  void load_state_dict(const LoaderPosition& position);
  /// Throws Error if load_state_dict() would. Changes nothing.
  void check_state(const LoaderPosition& position) const;

  /// The progress of the last pass.
  LoaderProgress progress() const { return progress_ ? *progress_ : LoaderProgress(); }

 private:
  friend class LoaderPass;

  void choose_sampler();
  template <class Kind>
  std::shared_ptr<Kind> sampler_of() const;
  void synchronize_generators() const;
  bool shards() const { return world_size_ > 1 && !dispatches_; }
  ShardOptions shard() const;
  int64_t whole_size() const;
  int64_t known_remainder() const;

  std::shared_ptr<LoaderCore> loader_;
  PrepareOptions options_;
  int rank_;
  int world_size_;
  bool dispatches_;
  std::shared_ptr<LoaderPosition> position_ = std::make_shared<LoaderPosition>();  // shared by skipping()
  int64_t skip_ = 0;                                                               // batches that the next epoch skips
  std::shared_ptr<LoaderProgress> progress_;                                       // of the last pass
};

/// One pass over a prepared loader: its start, and the position and progress while it runs. Registered with the active
/// loaders from construction until finish() or destruction.
class LoaderPass {
 public:
  /// Starts an epoch: synchronizes the generators and makes the draws that precede it. Collective.
  explicit LoaderPass(std::shared_ptr<PreparedCore> core);
  ~LoaderPass();
  LoaderPass(const LoaderPass&) = delete;
  LoaderPass& operator=(const LoaderPass&) = delete;

  const PreparedCore& core() const { return *core_; }
  const std::shared_ptr<LoaderProgress>& progress() const { return progress_; }

  /// The number of batches at the start of the epoch that this pass skips.
  int64_t skip() const { return skip_; }

  /// Draws the order of the epoch and returns the batches that this rank reads. For map-style data sets; if rank 0
  /// reads for all ranks, only rank 0 calls it.
  EpochBatches batches() const;

  /// The state of the global generator before the first batch was read, if the epoch is resumed; else undefined.
  const at::Tensor& first_read_state() const { return first_read_state_; }

  /// Call it before a batch is read ahead: records the state of the global generator.
  void note_read_ahead();

  /// Call it when a batch is returned to the user.
  void deliver(bool is_last);

  /// Call it when the user asks for another batch after the last one. Moves on to the next epoch.
  void finish();

 private:
  void leave();

  std::shared_ptr<PreparedCore> core_;
  std::shared_ptr<LoaderProgress> progress_ = std::make_shared<LoaderProgress>();
  at::Tensor first_read_state_;
  int64_t skip_ = 0;
  bool finished_ = false;
};

}  // namespace accelerate::data
