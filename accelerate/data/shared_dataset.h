#pragma once

// Turns a data set argument (a value, a smart pointer or a tensor) into a std::shared_ptr.

#include <memory>
#include <utility>

#include "accelerate/data/dataset.h"
#include "accelerate/data/tensor_dataset.h"

namespace accelerate::data {

namespace detail {

template <class D>
struct given_dataset {
  using type = D;
  static std::shared_ptr<D> share(D dataset) { return std::make_shared<D>(std::move(dataset)); }
};
template <class D>
struct given_dataset<std::shared_ptr<D>> {
  using type = D;
  static std::shared_ptr<D> share(std::shared_ptr<D> dataset) {
    if (!dataset) fail("the data set is a null pointer");
    return dataset;
  }
};
template <class D>
struct given_dataset<std::unique_ptr<D>> : given_dataset<std::shared_ptr<D>> {};
/// As in Python, a tensor is a data set of its rows.
template <>
struct given_dataset<at::Tensor> {
  using type = TensorDataset<at::Tensor>;
  static std::shared_ptr<type> share(at::Tensor rows) { return std::make_shared<type>(std::move(rows)); }
};

}  // namespace detail

/// The data set type of an argument: its own type, the pointee of a smart pointer, or a TensorDataset of a tensor's
/// rows.
template <class Given>
using given_dataset_t = typename detail::given_dataset<Given>::type;

/// Returns the argument as a shared data set. Smart pointers keep their pointee; anything else is moved. Throws Error
/// for null.
template <class Given>
std::shared_ptr<given_dataset_t<Given>> share_dataset(Given given) {
  return detail::given_dataset<Given>::share(std::move(given));
}

/// An argument that is a map-style data set.
template <class Given>
concept GivesMapStyle = MapStyleDataset<given_dataset_t<Given>>;

}  // namespace accelerate::data
