#pragma once

// Splits a finished batch into its samples, for a collate function that takes samples.

#include <array>
#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/tensors/nest.h"

namespace accelerate::data {

namespace detail {

template <class Nest>
constexpr bool is_all_tensors = std::same_as<Nest, at::Tensor> || std::same_as<Nest, tensors::Batch>;
template <class... Parts>
constexpr bool is_all_tensors<std::tuple<Parts...>> = (is_all_tensors<std::remove_cvref_t<Parts>> && ...);
template <class First, class Second>
constexpr bool is_all_tensors<std::pair<First, Second>> = is_all_tensors<First> && is_all_tensors<Second>;
template <class Part, size_t size>
constexpr bool is_all_tensors<std::array<Part, size>> = is_all_tensors<Part>;
template <tensors::HasFields Fields>
constexpr bool is_all_tensors<Fields> = is_all_tensors<decltype(tensors::fields_of(std::declval<Fields&>()))>;

}  // namespace detail

/// Whether this type is a batch of tensors only, so that its rows are its samples. False for a std::vector: data sets
/// return their samples in one.
template <class T>
constexpr bool has_rows = detail::is_all_tensors<T>;

/// Returns the samples of a batch. Their tensors are views into it.
template <class T>
  requires has_rows<T>
std::vector<T> rows_of(const T& batch) {
  std::vector<T> rows;
  const int64_t num_rows = tensors::find_batch_size(batch).value_or(0);
  rows.reserve(num_rows);
  for (int64_t row = 0; row < num_rows; ++row) {
    rows.push_back(tensors::map_tensors(batch, [&](const at::Tensor& tensor) { return tensor.select(0, row); }));
  }
  return rows;
}

}  // namespace accelerate::data
