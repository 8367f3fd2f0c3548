#pragma once

// A data set as loaders, subsets and concatenations keep it: shared, in whichever form the user gave it.

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

/// The data set that an argument of this type gives: itself, what a smart pointer points to, the rows of a tensor.
template <class Given>
using given_dataset_t = typename detail::given_dataset<Given>::type;

/// The data set that the argument gives, shared: a smart pointer keeps pointing to its own, anything else is moved.
template <class Given>
std::shared_ptr<given_dataset_t<Given>> share_dataset(Given given) {
  return detail::given_dataset<Given>::share(std::move(given));
}

/// An argument that is read by index.
template <class Given>
concept GivesMapStyle = MapStyleDataset<given_dataset_t<Given>>;

}  // namespace accelerate::data
