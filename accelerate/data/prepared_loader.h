#pragma once

// The loader that `prepare` returns: this rank's shard of the batches, on the device, read one batch ahead.

#include <concepts>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "accelerate/data/data_loader.h"
#include "accelerate/data/dispatch.h"
#include "accelerate/data/generators.h"
#include "accelerate/data/prepared_core.h"
#include "accelerate/tensors/hidden_tensors.h"

namespace accelerate::data {

/// Reads one batch ahead, to know which batch is the last one. An error while reading ahead is thrown when that batch
/// is due. `Source` is an OrderedPrefetcher or a Dispatcher.
template <class BatchT, class Source>
class PreparedEpoch : public Epoch<BatchT> {
 public:
  PreparedEpoch(std::unique_ptr<LoaderPass> pass, Source batches)
      : pass_(std::move(pass)), batches_(std::move(batches)) {
    // The saved run had already read this batch ahead, so the restored global generator is past its draws. Read it
    // again from the state before them.
    WithGlobalGenerator as_then(pass_->first_read_state());
    read_ahead();
  }

  BatchT* next() override {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    current_ = std::exchange(upcoming_, std::nullopt);
    if (!current_) {
      pass_->finish();
      return nullptr;
    }
    const auto& options = pass_->core().options();
    if (options.put_on_device) {
      current_ = tensors::send_to_device(*current_, options.device, options.configuration.non_blocking);
    }
    read_ahead();
    pass_->deliver(/*is_last=*/!upcoming_ && !error_);
    return &*current_;
  }

 private:
  void read_ahead() {
    pass_->note_read_ahead();
    try {
      upcoming_ = batches_.next();
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  std::unique_ptr<LoaderPass> pass_;
  Source batches_;
  std::optional<BatchT> current_;
  std::optional<BatchT> upcoming_;
  std::exception_ptr error_;
};

/// This rank's shard of a loader. Copies are the same loader. All ranks must start a pass together and stop it at the
/// same batch: begin() is collective, and so is each step if rank 0 reads for all ranks.
template <class BatchT>
class PreparedDataLoader {
  static_assert(
      !tensors::hides_tensors<BatchT>,
      "the batches are structs with tensors, which a prepared loader has to find: write beside the struct, in "
      "its namespace: auto tensor_fields(MyBatch& batch) { return std::tie(batch.pixels, batch.labels); }");

 public:
  using batch_type = BatchT;

  /// Collective; see PreparedCore.
  PreparedDataLoader(const DataLoader<BatchT>& loader, PrepareOptions options,
                     SliceFunction<BatchT> slice_fn_for_dispatch = nullptr)
      : PreparedDataLoader(loader, std::make_shared<PreparedCore>(core_of(loader), std::move(options)),
                           std::move(slice_fn_for_dispatch)) {}

  /// For a `loader` that was already prepared, as `core`.
  PreparedDataLoader(const DataLoader<BatchT>& loader, std::shared_ptr<PreparedCore> core,
                     SliceFunction<BatchT> slice_fn_for_dispatch)
      : reader_(loader.reader_), core_(std::move(core)), slice_(std::move(slice_fn_for_dispatch)) {
    if (core_->dispatches() && !Dispatchable<BatchT>) {
      fail(
          "batches of this type cannot be sent to other ranks: set dispatch_batches to false, or give the batch's "
          "struct a "
          "tensor_fields function");
    }
  }

  BatchIterator<BatchT> begin() {
    auto pass = std::make_unique<LoaderPass>(core_);
    if (core_->dispatches()) {
      if constexpr (Dispatchable<BatchT>) return dispatched_epoch(std::move(pass));
      fail("batches of this type cannot be dispatched");
    }
    auto batches = prefetched(own_jobs(*pass), core_->loader());
    return epoch(std::move(pass), std::move(batches));
  }
  std::default_sentinel_t end() const { return {}; }

  /// The number of batches for this rank in the next epoch. Throws Error for an iterable data set without a size.
  int64_t size() const { return core_->size(); }

  /// The number of samples that all ranks consume in one step.
  int64_t total_batch_size() const { return core_->total_batch_size(); }
  /// The number of samples in the whole data set.
  int64_t total_dataset_length() const { return core_->total_dataset_length(); }

  /// The number of the current or next epoch. A pass that reaches its end increments it.
  int64_t iteration() const { return core_->iteration(); }
  void set_epoch(int64_t epoch) { core_->set_epoch(epoch); }

  /// Takes effect in the next epoch.
  void set_even_batches(bool even_batches) { core_->set_even_batches(even_batches); }
  bool even_batches() const { return core_->options().configuration.even_batches; }

  bool is_iterable() const { return core_->loader().is_iterable(); }

  /// The progress of the last pass, see LoaderProgress.
  bool end_of_dataloader() const { return core_->progress().end_of_dataloader; }
  int64_t remainder() const { return core_->progress().remainder; }

  /// The position of this rank. During a pass the current batch counts as seen.
  LoaderPosition state_dict() const { return core_->state_dict(); }
  /// Restores the position: the next pass returns the rest of that epoch.
  void load_state_dict(const LoaderPosition& position) { core_->load_state_dict(position); }

  /// The part that does not depend on the batch type. Internal.
  friend const std::shared_ptr<PreparedCore>& core_of(const PreparedDataLoader& loader) { return loader.core_; }

  template <class B>
  friend PreparedDataLoader<B> skip_first_batches(const PreparedDataLoader<B>& loader, int64_t num_batches);

 private:
  template <class Source>
  static BatchIterator<BatchT> epoch(std::unique_ptr<LoaderPass> pass, Source batches) {
    return BatchIterator<BatchT>(std::make_unique<PreparedEpoch<BatchT, Source>>(std::move(pass), std::move(batches)));
  }

  /// For a rank that reads its own shard.
  Stream<Job<BatchT>> own_jobs(const LoaderPass& pass) const {
    if (!is_iterable()) return reader_->jobs(pass.batches());
    return reader_->jobs(core_->stream_shard(), Skip{.count = pass.skip()}, pass.progress());
  }

  /// For rank 0, if it reads for all ranks.
  Stream<Job<BatchT>> dispatched_jobs(const LoaderPass& pass) const {
    if (!is_iterable()) return reader_->jobs(pass.batches());
    return reader_->jobs(core_->stream_shard(), core_->dispatch_skip(pass.skip()), nullptr);
  }

  BatchIterator<BatchT> dispatched_epoch(std::unique_ptr<LoaderPass> pass) const {
    DispatchOptions options{.group = core_->options().group,
                            .batches_per_round = core_->batches_per_dispatch(),
                            .drop_last = core_->loader().drop_last(),
                            .skip_first = pass->skip() > 0};
    std::optional<OrderedPrefetcher<BatchT>> batches;
    if (core_->rank() == 0) batches = prefetched(dispatched_jobs(*pass), core_->loader());
    Dispatcher<BatchT> dispatcher(std::move(batches), std::move(options), pass->progress(), slice_);
    return epoch(std::move(pass), std::move(dispatcher));
  }

  std::shared_ptr<Reader<BatchT>> reader_;
  std::shared_ptr<PreparedCore> core_;
  SliceFunction<BatchT> slice_;
};

template <class T>
concept PreparedLoaderLike = requires(const T& loader) {
  { core_of(loader) } -> std::same_as<const std::shared_ptr<PreparedCore>&>;
};

/// Returns this rank's shard of `loader`. Collective. If rank 0 reads for all ranks, `slice_fn_for_dispatch` returns
/// each rank's slice of what it sent; otherwise it is not used.
template <class BatchT>
PreparedDataLoader<BatchT> prepare_data_loader(
    const DataLoader<BatchT>& loader, PrepareOptions options = {},
    std::type_identity_t<SliceFunction<BatchT>> slice_fn_for_dispatch = nullptr) {
  return PreparedDataLoader<BatchT>(loader, std::move(options), std::move(slice_fn_for_dispatch));
}

/// Returns the same loader with a next epoch that skips the first `num_batches` batches. Later epochs of both are
/// complete. Iterate over the result to resume inside an epoch, and over `loader` from the next epoch on. After
/// load_state() the next pass over `loader` already is the rest of its epoch; calling this function cancels that.
template <class BatchT>
PreparedDataLoader<BatchT> skip_first_batches(const PreparedDataLoader<BatchT>& loader, int64_t num_batches) {
  auto rest = loader;
  rest.core_ = loader.core_->skipping(num_batches);
  return rest;
}

}  // namespace accelerate::data

namespace accelerate {
using data::DispatchSlice;
using data::prepare_data_loader;
using data::PreparedDataLoader;
}  // namespace accelerate
