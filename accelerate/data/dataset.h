#pragma once

// The data set concepts. A map-style data set has size() and one of get_batch(indices), get(i) and [i]; torch's data
// sets and std::vector qualify. An iterable one has next() and reset(), or begin() and end(), or is a torch stream with
// get_batch(count); size() and set_epoch() are optional.

#include <concepts>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include <c10/util/ArrayRef.h>

#include "accelerate/base/error.h"
#include "accelerate/data/stream.h"

namespace accelerate::data {

namespace detail {

template <class D>
concept GivesBatches = requires(D& dataset, const Indices& indices) { dataset.get_batch(indices); };
template <class D>
concept GivesTorchBatches = requires(D& dataset, c10::ArrayRef<size_t> indices) { dataset.get_batch(indices); };
template <class D>
concept TakesSizes = requires(D& dataset, const std::vector<size_t>& indices) { dataset.get_batch(indices); };
template <class D>
concept GivesSamples = requires(D& dataset, size_t index) { dataset.get(index); };
template <class D>
concept HasSubscript = requires(D& dataset, size_t index) { dataset[index]; };
template <class D>
concept HasSize = requires(const D& dataset) { dataset.size(); };

template <class T>
struct without_optional {
  using type = T;
};
template <class T>
struct without_optional<std::optional<T>> {
  using type = T;
};
template <class T>
using without_optional_t = typename without_optional<std::remove_cvref_t<T>>::type;

/// `reset()` begins an epoch; `next()` returns its samples, then std::nullopt.
template <class D>
concept GivesNext = requires(D& dataset) {
  dataset.reset();
  { dataset.next().has_value() } -> std::convertible_to<bool>;
  *dataset.next();
};
/// A torch stream of samples. A stream of finished batches does not qualify: those cannot be split.
template <class D>
concept GivesTorchStream =
    requires(D& dataset, size_t count) { typename without_optional_t<decltype(dataset.get_batch(count))>::value_type; };

}  // namespace detail

template <class D>
concept MapStyleDataset =
    detail::HasSize<D> && (detail::GivesBatches<D> || detail::GivesTorchBatches<D> || detail::TakesSizes<D> ||
                           detail::GivesSamples<D> || detail::HasSubscript<D>);

template <class D>
concept IterableDataset =
    !MapStyleDataset<D> && (detail::GivesNext<D> || std::ranges::input_range<D> || detail::GivesTorchStream<D>);

template <class D>
concept Dataset = MapStyleDataset<D> || IterableDataset<D>;

/// The number of samples, if the data set knows it.
template <Dataset D>
std::optional<int64_t> dataset_size(const D& dataset) {
  if constexpr (!detail::HasSize<D>) {
    return std::nullopt;
  } else if constexpr (std::integral<std::remove_cvref_t<decltype(dataset.size())>>) {
    return static_cast<int64_t>(dataset.size());
  } else {
    auto size = dataset.size();
    return size ? std::optional<int64_t>(static_cast<int64_t>(*size)) : std::nullopt;
  }
}

/// Returns the sample at `index`. The data set's `get` is expected to check the index; `[index]` may not, so an index
/// outside of size() throws Error here.
template <MapStyleDataset D>
  requires(detail::GivesSamples<D> || detail::HasSubscript<D>)
decltype(auto) read_sample(D& dataset, int64_t index) {
  if constexpr (detail::GivesSamples<D>) {
    return dataset.get(static_cast<size_t>(index));
  } else {
    const auto size = dataset_size(dataset);
    if (index < 0 || (size && index >= *size)) {
      fail("sample ", index, " is not one of the ", size.value_or(0), " samples of the data set; is the sampler made ",
           "for another one?");
    }
    return dataset[static_cast<size_t>(index)];
  }
}

/// Returns the samples at `indices`: a vector of them, or a finished batch if get_batch returns anything else.
template <MapStyleDataset D>
auto read_samples(D& dataset, const Indices& indices) {
  if constexpr (detail::GivesBatches<D>) {
    return dataset.get_batch(indices);
  } else if constexpr (detail::GivesTorchBatches<D>) {
    return dataset.get_batch(c10::ArrayRef<size_t>(reinterpret_cast<const size_t*>(indices.data()), indices.size()));
  } else if constexpr (detail::TakesSizes<D>) {
    return dataset.get_batch(std::vector<size_t>(indices.begin(), indices.end()));
  } else {
    std::vector<std::remove_cvref_t<decltype(read_sample(dataset, 0))>> samples;
    samples.reserve(indices.size());
    for (int64_t index : indices) samples.push_back(read_sample(dataset, index));
    return samples;
  }
}

namespace detail {

/// Returns the next samples of a torch stream, in the stream's own batch size if it has one. A ChunkDataset rejects any
/// other size.
template <class D>
auto next_samples(D& dataset) {
  if constexpr (requires { dataset.get_batch(); }) {
    return dataset.get_batch();
  } else if constexpr (requires { dataset->get_batch(); }) {
    return dataset->get_batch();
  } else {
    return dataset.get_batch(1);
  }
}

/// Streams the samples of a torch stream one by one.
template <class D>
auto stream_torch_samples(std::shared_ptr<D> dataset) {
  using Samples = without_optional_t<decltype(next_samples(*dataset))>;
  using Sample = typename Samples::value_type;
  if constexpr (requires { dataset->reset(); }) dataset->reset();
  return Stream<Sample>([dataset, samples = Samples(), next = size_t{0}]() mutable -> std::optional<Sample> {
    if (next == samples.size()) {
      std::optional<Samples> more = next_samples(*dataset);
      if (!more || more->empty()) return std::nullopt;
      samples = std::move(*more);
      next = 0;
    }
    return std::move(samples[next++]);
  });
}

}  // namespace detail

/// Returns one pass over the samples. The stream shares ownership of the data set.
template <IterableDataset D>
auto stream_samples(std::shared_ptr<D> dataset) {
  if constexpr (detail::GivesNext<D>) {
    using Sample = std::remove_cvref_t<decltype(*dataset->next())>;
    dataset->reset();
    return Stream<Sample>([dataset]() -> std::optional<Sample> { return dataset->next(); });
  } else if constexpr (std::ranges::input_range<D>) {
    using Sample = std::ranges::range_value_t<D>;
    using Iterator = std::ranges::iterator_t<D>;
    // In a shared_ptr: std::function must be copyable, and iterators of input ranges may not be.
    auto next = std::make_shared<Iterator>(dataset->begin());
    return Stream<Sample>([dataset, next]() -> std::optional<Sample> {
      if (*next == dataset->end()) return std::nullopt;
      std::optional<Sample> sample(**next);
      ++*next;
      return sample;
    });
  } else {
    return detail::stream_torch_samples(std::move(dataset));
  }
}

namespace detail {

template <class D>
auto collate_input() {
  if constexpr (MapStyleDataset<D>) {
    return std::type_identity<decltype(read_samples(std::declval<D&>(), Indices()))>();
  } else {
    using Samples = decltype(stream_samples(std::declval<std::shared_ptr<D>>()));
    return std::type_identity<std::vector<typename Samples::result_type::value_type>>();
  }
}

}  // namespace detail

/// The argument of a collate function for this data set: a vector of samples, or a finished batch.
template <Dataset D>
using collate_input_t = typename decltype(detail::collate_input<D>())::type;

}  // namespace accelerate::data
