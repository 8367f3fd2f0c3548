#pragma once

// Batches of a data set, made by worker threads while the last one is in use:
//
//   DataLoader batches(dataset, {.batch_size = 32, .shuffle = true, .num_workers = 2});
//   for (auto& batch : batches) ...

#include <algorithm>
#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "accelerate/data/batch_iterator.h"
#include "accelerate/data/collate.h"
#include "accelerate/data/loader_core.h"
#include "accelerate/data/pin_memory.h"

namespace accelerate::data {

/// `CollateInput` is what the data set gives: a vector of samples, or a batch already.
template <class CollateInput, class BatchT>
struct DataLoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;                                   // a new random order in each epoch
  std::function<BatchT(CollateInput)> collate = nullptr;  // samples to a batch; default_collate if not given
  int num_workers = 0;                                    // threads that make batches; none: the loop does it itself
  bool drop_last = false;                                 // leave out an incomplete last batch
  int64_t prefetch_factor = 2;                            // batches that each worker is ahead
  std::shared_ptr<Sampler> sampler = nullptr;             // the order, instead of shuffle
  std::shared_ptr<BatchSamplerBase> batch_sampler = nullptr;     // the batches, instead of all of these
  at::Generator generator = {};                                  // for the shuffle; libtorch's global one if not given
  bool pin_memory = false;                                       // batches in page-locked memory, if there is a GPU
  std::chrono::milliseconds timeout = std::chrono::minutes(10);  // for a worker to make one batch
};

/// Stands for the batch of samples that have no default collation.
struct NoDefaultBatch {};

namespace detail {

/// The batch that a data set gives when the user has no collate function: what it gives itself, if that is a batch.
template <class CollateInput>
struct uncollated {
  using type = CollateInput;
};
template <class Sample>
struct uncollated<std::vector<Sample>> {
  using type = NoDefaultBatch;
};
template <Collatable Sample>
struct uncollated<std::vector<Sample>> {
  using type = default_batch_t<Sample>;
};

}  // namespace detail

template <Dataset D>
using dataset_batch_t = typename detail::uncollated<collate_input_t<D>>::type;

/// Walks over a data set in batches, any number of times. Takes the data set by value, and keeps it. Copies share it.
/// With several workers `get` is called by several threads at a time, each of which computes with one thread.
template <class BatchT>
class DataLoader {
  static_assert(
      !std::same_as<BatchT, NoDefaultBatch>,
      "there is no default collation for samples of this type: write DataLoader(dataset, collate, options) with a "
      "function that makes a batch of a std::vector of samples, or give their struct a tensor_fields function");

 public:
  using batch_type = BatchT;

  template <Dataset D>
  explicit DataLoader(D dataset, DataLoaderOptions<collate_input_t<D>, BatchT> options = {}) {
    if constexpr (std::same_as<BatchT, dataset_batch_t<D>>) {
      if (!options.collate) options.collate = default_collation<D>();
    }
    if (!options.collate) fail("DataLoader: this batch type needs a collate function");
    if (options.pin_memory && can_pin_memory()) {
      options.collate = [collate = std::move(options.collate)](collate_input_t<D> samples) {
        return tensors::map_tensors(collate(std::move(samples)), pinned);
      };
    }
    reader_ = std::make_shared<DatasetReader<D, BatchT>>(std::move(dataset), std::move(options.collate));
    core_ = std::make_shared<LoaderCore>(reader_, LoaderSettings{.batch_size = options.batch_size,
                                                                 .shuffle = options.shuffle,
                                                                 .num_workers = options.num_workers,
                                                                 .drop_last = options.drop_last,
                                                                 .prefetch_factor = options.prefetch_factor,
                                                                 .sampler = std::move(options.sampler),
                                                                 .batch_sampler = std::move(options.batch_sampler),
                                                                 .generator = std::move(options.generator),
                                                                 .timeout = options.timeout});
  }

  /// The same with a collate function whose result is not what default_collate would give.
  template <Dataset D, std::invocable<collate_input_t<D>> Collate>
  DataLoader(D dataset, Collate collate, DataLoaderOptions<collate_input_t<D>, BatchT> options = {})
      : DataLoader(std::move(dataset), with_collate(std::move(options), std::move(collate))) {}

  BatchIterator<BatchT> begin() const { return BatchIterator<BatchT>(std::make_unique<PlainEpoch>(batches())); }
  std::default_sentinel_t end() const { return {}; }

  /// How many batches the next walk gives. Throws Error for an iterable data set without a size.
  int64_t size() const { return std::max<int64_t>(0, core_->size() - core_->skip()); }

  bool is_iterable() const { return core_->is_iterable(); }

  /// Tells the sampler and the data set which epoch comes next, where they want to know.
  void set_epoch(int64_t epoch) { core_->set_epoch(epoch); }

  /// This loader's parts, for prepare_data_loader.
  const std::shared_ptr<Reader<BatchT>>& reader() const { return reader_; }
  const std::shared_ptr<LoaderCore>& core() const { return core_; }

  template <class B>
  friend DataLoader<B> skip_first_batches(const DataLoader<B>& loader, int64_t num_batches);

 private:
  class PlainEpoch : public Epoch<BatchT> {
   public:
    explicit PlainEpoch(Stream<BatchT> batches) : batches_(std::move(batches)) {}
    BatchT* next() override {
      batch_.reset();  // so that the next one can have its memory
      batch_ = batches_();
      return batch_ ? &*batch_ : nullptr;
    }

   private:
    Stream<BatchT> batches_;
    std::optional<BatchT> batch_;
  };

  template <class D>
  static std::function<BatchT(collate_input_t<D>)> default_collation() {
    if constexpr (std::same_as<collate_input_t<D>, BatchT>) {
      return [](BatchT batch) { return batch; };
    } else {
      return [](collate_input_t<D> samples) { return default_collate(std::move(samples)); };
    }
  }

  template <class Options, class Collate>
  static Options with_collate(Options options, Collate collate) {
    if (options.collate) fail("DataLoader: there are two collate functions; give one");
    options.collate = std::move(collate);
    return options;
  }

  Stream<BatchT> batches() const {
    core_->draw_base_seed();
    const Skip skip{.count = core_->take_skip()};
    if (core_->is_iterable()) return prefetched(reader_->jobs(core_->whole_stream(), skip, nullptr), *core_);
    return prefetched(reader_->jobs(without(skip, core_->batch_sampler()->begin())), *core_);
  }

  std::shared_ptr<Reader<BatchT>> reader_;
  std::shared_ptr<LoaderCore> core_;
};

template <Dataset D>
DataLoader(D, DataLoaderOptions<collate_input_t<D>, dataset_batch_t<D>> = {}) -> DataLoader<dataset_batch_t<D>>;

template <Dataset D, std::invocable<collate_input_t<D>> Collate>
DataLoader(D, Collate, DataLoaderOptions<collate_input_t<D>, std::invoke_result_t<Collate, collate_input_t<D>>> = {})
    -> DataLoader<std::invoke_result_t<Collate, collate_input_t<D>>>;

/// A loader like this one whose next walk begins after `num_batches` batches; the walks after that are whole. (Python's
/// skips in every epoch, so that it has to be thrown away after one.)
template <class BatchT>
DataLoader<BatchT> skip_first_batches(const DataLoader<BatchT>& loader, int64_t num_batches) {
  auto rest = loader;
  rest.core_ = std::make_shared<LoaderCore>(*loader.core_);
  rest.core_->set_skip(num_batches);
  return rest;
}

}  // namespace accelerate::data

namespace accelerate {
using data::DataLoader;
using data::skip_first_batches;
}  // namespace accelerate
