#pragma once

// Deduces the batch type of a loader from its data set and its collate function. Invalid combinations get a marker
// type, for which a static_assert in DataLoader says what to write. A constraint would be shorter, but compilers report
// a failed one as a list of all constructors.

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "accelerate/data/batch_rows.h"
#include "accelerate/data/collate.h"
#include "accelerate/data/shared_dataset.h"

namespace torch::data {
template <typename Dataset, typename Batch, typename BatchRequest>
class DataLoaderBase;
}

namespace accelerate::data {

/// Marker types for invalid loaders. Their template arguments appear in the compiler's message.
template <class Given>
struct NotADataset {};
template <class Sample>
struct NoDefaultBatch {};
template <class Sample>
struct NoBatchOfMembers {};
template <class Collate, class CollateInput>
struct NotACollateFunction {};

namespace detail {

template <class BatchT>
constexpr bool is_not_a_dataset = false;
template <class Given>
constexpr bool is_not_a_dataset<NotADataset<Given>> = true;
template <class BatchT>
constexpr bool has_no_default = false;
template <class Sample>
constexpr bool has_no_default<NoDefaultBatch<Sample>> = true;
template <class BatchT>
constexpr bool has_other_members = false;
template <class Sample>
constexpr bool has_other_members<NoBatchOfMembers<Sample>> = true;
template <class BatchT>
constexpr bool is_not_a_collate = false;
template <class Collate, class CollateInput>
constexpr bool is_not_a_collate<NotACollateFunction<Collate, CollateInput>> = true;

template <class Given>
struct loader_input {
  using type = NotADataset<Given>;
};
template <class Given>
  requires Dataset<given_dataset_t<Given>>
struct loader_input<Given> {
  using type = collate_input_t<given_dataset_t<Given>>;
};

/// The batch type without a collate function: a batch from the data set as it is, or default_collate's result.
template <class CollateInput>
struct uncollated {
  using type = CollateInput;
};
template <class Sample>
struct uncollated<std::vector<Sample>> {
  using type = NoDefaultBatch<Sample>;
};
template <Collatable Sample>
struct uncollated<std::vector<Sample>> {
  using type = default_batch_t<Sample>;
};
template <Collatable Sample>
  requires(!keeps_members<Sample>)
struct uncollated<std::vector<Sample>> {
  using type = NoBatchOfMembers<Sample>;
};

/// A collate function of samples for a data set that returns finished batches, such as TensorDataset.
template <class Collate, class CollateInput>
concept TakesRows =
    has_rows<CollateInput> && !std::invocable<Collate&, CollateInput> && !std::invocable<Collate&, CollateInput&> &&
    (std::invocable<Collate&, std::vector<CollateInput>> || std::invocable<Collate&, std::vector<CollateInput>&>);

/// The batch type with a collate function: its result. It may take the samples by value or by any reference.
template <class Collate, class CollateInput>
struct collated {
  using type = NotACollateFunction<Collate, CollateInput>;
};
template <class Collate, class Given>
struct collated<Collate, NotADataset<Given>> {
  using type = NotADataset<Given>;
};
template <class Collate, class CollateInput>
  requires std::invocable<Collate&, CollateInput>
struct collated<Collate, CollateInput> {
  using type = std::remove_cvref_t<std::invoke_result_t<Collate&, CollateInput>>;
};
template <class Collate, class CollateInput>
  requires(std::invocable<Collate&, CollateInput&> && !std::invocable<Collate&, CollateInput>)
struct collated<Collate, CollateInput> {
  using type = std::remove_cvref_t<std::invoke_result_t<Collate&, CollateInput&>>;
};
template <class Collate, class CollateInput>
  requires TakesRows<Collate, CollateInput>
struct collated<Collate, CollateInput> : collated<Collate, std::vector<CollateInput>> {};

/// Calls a collate function with the batch or its rows, whichever it takes.
template <class Collate, class CollateInput>
decltype(auto) call_collate(Collate& collate, CollateInput&& input) {
  if constexpr (TakesRows<Collate, CollateInput>) {
    return call_collate(collate, rows_of(input));
  } else if constexpr (std::invocable<Collate&, CollateInput>) {
    return std::invoke(collate, std::move(input));
  } else {
    return std::invoke(collate, input);
  }
}

}  // namespace detail

/// The argument of a collate function, by the data set passed to DataLoader.
template <class Given>
using loader_input_t = typename detail::loader_input<Given>::type;

/// The batch type of DataLoader(given, {...}).
template <class Given>
using loader_batch_t = typename detail::uncollated<loader_input_t<Given>>::type;

/// The batch type of DataLoader(given, collate, {...}).
template <class Given, class Collate>
using collated_batch_t = typename detail::collated<std::decay_t<Collate>, loader_input_t<Given>>::type;

/// Whether this is a marker type of an invalid loader.
template <class BatchT>
constexpr bool is_no_batch = detail::is_not_a_dataset<BatchT> || detail::has_no_default<BatchT> ||
                             detail::has_other_members<BatchT> || detail::is_not_a_collate<BatchT>;

namespace detail {

template <class Set, class BatchT, class Request>
std::true_type torch_loader(const torch::data::DataLoaderBase<Set, BatchT, Request>*);
std::false_type torch_loader(...);
template <class T>
constexpr bool points_to_torch_loader = false;
template <class T>
  requires requires(const T& pointer) { *pointer; }
constexpr bool points_to_torch_loader<T> =
    decltype(torch_loader(std::declval<std::remove_reference_t<decltype(*std::declval<const T&>())>*>()))::value;

template <class Callable>
constexpr bool may_be_null = std::is_pointer_v<Callable>;
template <class Signature>
constexpr bool may_be_null<std::function<Signature>> = true;

}  // namespace detail

/// Whether this is one of libtorch's own loaders, or a pointer to one.
template <class T>
constexpr bool is_torch_loader =
    decltype(detail::torch_loader(std::declval<T*>()))::value || detail::points_to_torch_loader<T>;

/// Makes a batch from what a data set returns. Copies share one function object. Workers call it concurrently.
template <class CollateInput, class BatchT>
class CollateFunction {
 public:
  CollateFunction(std::nullptr_t = nullptr) {}

  /// Accepts any callable, also a move-only one.
  template <class Function>
    requires(!std::same_as<std::remove_cvref_t<Function>, CollateFunction>)
  CollateFunction(Function&& function) {
    using Callable = std::decay_t<Function>;
    using Result = typename detail::collated<Callable, CollateInput>::type;
    if constexpr (!is_no_batch<BatchT>) {
      static_assert(!detail::is_not_a_collate<Result>,
                    "the collate function cannot be called with what this data set gives: let it take a std::vector of "
                    "samples, by value or const reference");
      static_assert(detail::is_not_a_collate<Result> || std::convertible_to<Result, BatchT>,
                    "the collate function makes batches of a type that cannot be deduced from inside the braces: write "
                    "DataLoader(dataset, collate, {...}) instead of {.collate = collate, ...}");
      if constexpr (std::convertible_to<Result, BatchT>) {
        auto shared = std::make_shared<Callable>(std::forward<Function>(function));
        if constexpr (detail::may_be_null<Callable>) {
          if (!*shared) return;
        }
        function_ = [shared](CollateInput input) -> BatchT { return detail::call_collate(*shared, std::move(input)); };
      }
    }
  }

  explicit operator bool() const { return static_cast<bool>(function_); }
  BatchT operator()(CollateInput input) const { return function_(std::move(input)); }

 private:
  std::function<BatchT(CollateInput)> function_;
};

}  // namespace accelerate::data
