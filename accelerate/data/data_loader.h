#pragma once

// The data loader: batches of a data set, prefetched by worker threads:
//
//   DataLoader batches(dataset, {.batch_size = 32, .shuffle = true, .num_workers = 2});
//   for (auto& batch : batches) ...

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "accelerate/base/require_cpp20.h"
#include "accelerate/data/loader_batch.h"
#include "accelerate/data/loader_core.h"

namespace accelerate::data {

/// One pass over the batches of a loader.
template <class BatchT>
class Epoch {
 public:
  virtual ~Epoch() = default;

  /// Returns the next batch, valid until the following call; null at the end.
  virtual BatchT* next() = 0;
};

/// Owns the pass: leaving the loop early ends it and its worker threads.
template <class BatchT>
class BatchIterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = BatchT;
  using difference_type = std::ptrdiff_t;

  explicit BatchIterator(std::unique_ptr<Epoch<BatchT>> epoch) : epoch_(std::move(epoch)), batch_(epoch_->next()) {}

  BatchT& operator*() const { return *batch_; }
  BatchT* operator->() const { return batch_; }
  BatchIterator& operator++() {
    batch_ = epoch_->next();
    return *this;
  }
  void operator++(int) { ++*this; }

  friend bool operator==(const BatchIterator& iterator, std::default_sentinel_t) { return iterator.batch_ == nullptr; }

 private:
  std::unique_ptr<Epoch<BatchT>> epoch_;
  BatchT* batch_;
};

/// A sampler as an option: a pointer to one, or the sampler itself.
template <class Kind>
class SamplerOption {
 public:
  SamplerOption(std::nullptr_t = nullptr) {}
  template <std::derived_from<Kind> S>
  SamplerOption(std::shared_ptr<S> sampler) : sampler_(std::move(sampler)) {}
  template <std::derived_from<Kind> S>
  SamplerOption(std::unique_ptr<S> sampler) : sampler_(std::move(sampler)) {}
  template <std::derived_from<Kind> S>
  SamplerOption(S sampler) : sampler_(std::make_shared<S>(std::move(sampler))) {}

  const std::shared_ptr<Kind>& get() const { return sampler_; }

 private:
  std::shared_ptr<Kind> sampler_;
};

template <class BatchT>
class PreparedDataLoader;

/// `CollateInput` is what the data set returns: a vector of samples, or a finished batch.
template <class CollateInput, class BatchT>
struct DataLoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;                                          // a new random order in each epoch
  CollateFunction<CollateInput, BatchT> collate = nullptr;       // samples to a batch; default_collate if not given
  int num_workers = 0;                                           // threads that make batches; 0: the calling thread
  bool drop_last = false;                                        // drop an incomplete last batch
  int64_t prefetch_factor = 2;                                   // batches that each worker prefetches
  SamplerOption<Sampler> sampler = nullptr;                      // the order, instead of shuffle
  SamplerOption<BatchSamplerBase> batch_sampler = nullptr;       // replaces batch_size, shuffle, drop_last and sampler
  at::Generator generator = {};                                  // for the shuffle; libtorch's global one if not given
  bool pin_memory = false;                                       // batches in page-locked memory, if there is a GPU
  std::chrono::milliseconds timeout = std::chrono::minutes(10);  // for a worker to make one batch
};

namespace detail {

template <class T>
constexpr bool is_loader_options = false;
template <class CollateInput, class BatchT>
constexpr bool is_loader_options<DataLoaderOptions<CollateInput, BatchT>> = true;

}  // namespace detail

/// Iterates over a data set in batches, any number of times. Owns a data set passed by value; shares one passed by
/// smart pointer. Copies of the loader share it. With several workers `get` is called concurrently, and each worker
/// computes with one thread.
template <class BatchT>
class DataLoader {
  static_assert(!detail::is_not_a_dataset<BatchT>,
                "DataLoader takes a data set: a type with `size()` and `get(index)`, or a stream with `reset()` and "
                "`next()`, which gives a std::optional of a sample; all of them public. Of a torch::data loader, pass "
                "the data set that it was made of");
  static_assert(!detail::has_no_default<BatchT>,
                "there is no default collation for samples of this type: write DataLoader(dataset, collate, {...}) "
                "with a function that makes a batch of a std::vector of samples, or write beside their struct: "
                "auto tensor_fields(Sample& s) { return std::tie(s.first_tensor, s.second_tensor); }");
  static_assert(
      !detail::has_other_members<BatchT>,
      "the batches of this sample are structs of its own type, and one of the members that its tensor_fields "
      "names cannot hold its batch: a batch of numbers is a tensor. Make the member a torch::Tensor, or write "
      "DataLoader(dataset, collate, {...}) with a function that makes a struct for the batch of a "
      "std::vector of samples");
  static_assert(!detail::is_not_a_collate<BatchT>,
                "the second argument of DataLoader is neither options in braces nor a function that can be called with "
                "what this data set gives: let it take a std::vector of samples, by value or const reference");
  static_assert(!std::is_void_v<BatchT>, "the collate function returns nothing: let it return the batch");

 public:
  using batch_type = BatchT;

  template <class Given>
  explicit DataLoader(Given dataset, DataLoaderOptions<loader_input_t<Given>, BatchT> options = {}) {
    if constexpr (!is_no_batch<BatchT> && !detail::is_not_a_dataset<loader_input_t<Given>>) {
      using Input = loader_input_t<Given>;
      if constexpr (std::same_as<BatchT, loader_batch_t<Given>>) {
        if (!options.collate) options.collate = default_collation<Input>();
      }
      if (!options.collate) fail("DataLoader: this batch type needs a collate function");
      if (options.pin_memory && can_pin_memory()) {
        options.collate = [collate = std::move(options.collate)](Input samples) {
          return tensors::map_tensors(collate(std::move(samples)), pinned);
        };
      }
      reader_ = std::make_shared<DatasetReader<given_dataset_t<Given>, BatchT>>(share_dataset(std::move(dataset)),
                                                                                std::move(options.collate));
      core_ = std::make_shared<LoaderCore>(reader_, LoaderSettings{.batch_size = options.batch_size,
                                                                   .shuffle = options.shuffle,
                                                                   .num_workers = options.num_workers,
                                                                   .drop_last = options.drop_last,
                                                                   .prefetch_factor = options.prefetch_factor,
                                                                   .sampler = options.sampler.get(),
                                                                   .batch_sampler = options.batch_sampler.get(),
                                                                   .generator = std::move(options.generator),
                                                                   .timeout = options.timeout});
    } else {
      static_assert(is_no_batch<BatchT>, "DataLoader takes a data set: a type with `size()` and `get(index)`");
    }
  }

  /// The same with a collate function, which may return another type than default_collate.
  template <class Given, class Collate>
    requires(!detail::is_loader_options<Collate>)
  DataLoader(Given dataset, Collate collate, DataLoaderOptions<loader_input_t<Given>, BatchT> options = {})
      : DataLoader(std::move(dataset), with_collate(std::move(options), std::move(collate))) {}

  BatchIterator<BatchT> begin() const {
    return BatchIterator<BatchT>(std::make_unique<PlainEpoch>(prefetched(jobs(), *core_)));
  }
  std::default_sentinel_t end() const { return {}; }

  /// The number of batches in the next pass. Throws Error for an iterable data set without a size.
  int64_t size() const { return std::max<int64_t>(0, core_->size() - core_->skip()); }

  bool is_iterable() const { return core_->is_iterable(); }

  /// Tells the sampler and the data set the number of the next epoch, if they have a set_epoch().
  void set_epoch(int64_t epoch) { core_->set_epoch(epoch); }

  /// The part that does not depend on the batch type. Internal.
  friend const std::shared_ptr<LoaderCore>& core_of(const DataLoader& loader) { return loader.core_; }

  template <class B>
  friend DataLoader<B> skip_first_batches(const DataLoader<B>& loader, int64_t num_batches);

 private:
  friend class PreparedDataLoader<BatchT>;

  class PlainEpoch : public Epoch<BatchT> {
   public:
    explicit PlainEpoch(OrderedPrefetcher<BatchT> batches) : batches_(std::move(batches)) {}
    BatchT* next() override {
      batch_.reset();  // so that the next one can reuse its memory
      batch_ = batches_.next();
      return batch_ ? &*batch_ : nullptr;
    }

   private:
    OrderedPrefetcher<BatchT> batches_;
    std::optional<BatchT> batch_;
  };

  template <class Input>
  static CollateFunction<Input, BatchT> default_collation() {
    if constexpr (std::same_as<Input, BatchT>) {
      return [](BatchT batch) { return batch; };
    } else {
      return [](Input samples) { return default_collate(std::move(samples)); };
    }
  }

  template <class Options, class Collate>
  static Options with_collate(Options options, Collate collate) {
    if (options.collate) fail("DataLoader: there are two collate functions; give one");
    options.collate = std::move(collate);
    return options;
  }

  Stream<Job<BatchT>> jobs() const {
    core_->draw_base_seed();
    const Skip skip{.count = core_->take_skip()};
    if (core_->is_iterable()) return reader_->jobs(core_->whole_stream(), skip, nullptr);
    return reader_->jobs(EpochBatches(core_->batch_sampler()->begin(), skip));
  }

  std::shared_ptr<Reader<BatchT>> reader_;
  std::shared_ptr<LoaderCore> core_;
};

template <class Given>
DataLoader(Given, DataLoaderOptions<loader_input_t<Given>, loader_batch_t<Given>> = {})
    -> DataLoader<loader_batch_t<Given>>;

template <class Given, class Collate>
  requires(!detail::is_loader_options<Collate>)
DataLoader(Given, Collate, DataLoaderOptions<loader_input_t<Given>, collated_batch_t<Given, Collate>> = {})
    -> DataLoader<collated_batch_t<Given, Collate>>;

/// Returns a copy of the loader whose next pass skips the first `num_batches` batches. Later passes are complete.
/// (Python's skips in every epoch, so it has to be discarded after one.)
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
