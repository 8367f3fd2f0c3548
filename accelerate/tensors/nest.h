#pragma once

// Defines nests of tensors and walks them. A nest is a tensor, or a tuple, pair, array, vector, map, Batch,
// torch::data::Example or optional of nests, or a struct that names its fields with one line:
//
//   auto tensor_fields(MyBatch& batch) { return std::tie(batch.pixels, batch.labels); }
//
// Everything else is a leaf and is passed through unchanged.

#include <optional>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/tensors/batch.h"

namespace torch::data {
template <typename Data, typename Target>
struct Example;
}

namespace accelerate::tensors {

/// A struct with a function `tensor_fields(T&)` in its namespace.
template <class T>
concept HasTensorFields = requires(std::remove_const_t<T>& value) { tensor_fields(value); };

namespace detail {

template <class T>
constexpr bool is_example = false;
template <class Data, class Target>
constexpr bool is_example<torch::data::Example<Data, Target>> = true;

template <class T>
concept Tuple = requires { std::tuple_size<std::remove_cv_t<T>>::value; };

template <class T>
concept Range = std::ranges::range<T> && !std::is_convertible_v<T, std::string_view>;

template <class T>
constexpr bool is_tie = false;
template <class... Fields>
constexpr bool is_tie<std::tuple<Fields&...>> = !(std::is_const_v<Fields> || ...);

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

}  // namespace detail

/// Returns the fields of a struct with tensor_fields, or of an Example, as a tuple of references.
template <class T>
auto fields_of(T& value) {
  using Plain = std::remove_const_t<T>;
  if constexpr (HasTensorFields<T>) {
    static_assert(detail::is_tie<decltype(tensor_fields(const_cast<Plain&>(value)))>,
                  "tensor_fields has to take its struct by reference and return std::tie(...) of members: "
                  "auto tensor_fields(MyBatch& batch) { return std::tie(batch.pixels, batch.labels); }");
    return tensor_fields(const_cast<Plain&>(value));
  } else if constexpr (requires { value.target; }) {
    return std::tie(value.data, value.target);
  } else {
    return std::tie(value.data);
  }
}

template <class T>
concept HasFields = HasTensorFields<T> || detail::is_example<std::remove_const_t<T>>;

namespace detail {

template <class T>
consteval bool holds_tensors() {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<Plain, at::Tensor> || HasFields<Plain>)
    return true;
  else if constexpr (Tuple<Plain>)
    return []<size_t... I>(std::index_sequence<I...>) {
      return (holds_tensors<std::tuple_element_t<I, Plain>>() || ...);
    }(std::make_index_sequence<std::tuple_size_v<Plain>>());
  else if constexpr (is_optional<Plain>)
    return holds_tensors<typename Plain::value_type>();
  else if constexpr (Range<Plain>)
    return holds_tensors<std::ranges::range_value_t<Plain>>();
  else
    return false;
}

}  // namespace detail

/// Whether values of this type can hold a tensor at all.
template <class T>
constexpr bool holds_tensors = detail::holds_tensors<T>();

/// Calls `visit(at::Tensor&)` for every defined tensor of the nest, in a fixed order (`const at::Tensor&` if the nest
/// is const).
template <class T, class Visit>
void for_each_tensor(T& nest, Visit&& visit) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, at::Tensor>) {
    if (nest.defined()) visit(nest);
  } else if constexpr (HasFields<T>) {
    std::apply([&](auto&... fields) { (for_each_tensor(fields, visit), ...); }, fields_of(nest));
  } else if constexpr (detail::Tuple<T>) {
    std::apply([&](auto&... parts) { (for_each_tensor(parts, visit), ...); }, nest);
  } else if constexpr (detail::is_optional<Plain>) {
    if (nest) for_each_tensor(*nest, visit);
  } else if constexpr (detail::Range<T>) {
    if constexpr (holds_tensors<T>) {
      for (auto&& part : nest) for_each_tensor(part, visit);
    }
  }
}

/// Returns the nest with every defined tensor replaced by `function(tensor)`.
template <class T, class Function>
T map_tensors(T nest, Function&& function) {
  for_each_tensor(nest, [&](at::Tensor& tensor) { tensor = function(std::as_const(tensor)); });
  return nest;
}

/// Returns the tensors of the nest, in the order of for_each_tensor.
template <class T>
std::vector<at::Tensor> tensors_of(const T& nest) {
  std::vector<at::Tensor> tensors;
  for_each_tensor(nest, [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

/// Copies every tensor to `device`. Tensors that are already there are shared.
template <class T>
T send_to_device(const T& nest, at::Device device, bool non_blocking = false) {
  return map_tensors(nest, [&](const at::Tensor& tensor) {
    return tensor.device() == device ? tensor : tensor.to(device, non_blocking);
  });
}

/// Returns the size of dim 0 of the first tensor that has one, or nothing.
template <class T>
std::optional<int64_t> find_batch_size(const T& nest) {
  std::optional<int64_t> size;
  for_each_tensor(nest, [&](const at::Tensor& tensor) {
    if (!size && tensor.dim() > 0) size = tensor.size(0);
  });
  return size;
}

/// Returns rows [begin, end) of every tensor, as views.
template <class T>
T slice_tensors(const T& nest, int64_t begin, int64_t end) {
  return map_tensors(nest, [&](const at::Tensor& tensor) { return tensor.slice(0, begin, end); });
}

/// at::cat, kept out of this header.
at::Tensor concatenate_tensors(const std::vector<at::Tensor>& parts, int64_t dim);

/// Concatenates nests of the same structure along `dim`, tensor by tensor. Other leaves come from the first nest.
template <class T>
T concatenate(const std::vector<T>& nests, int64_t dim = 0) {
  if (nests.size() == 1) return nests.front();
  std::vector<std::vector<at::Tensor>> parts;
  for (const auto& nest : nests) parts.push_back(tensors_of(nest));
  size_t index = 0;
  return map_tensors(nests.at(0), [&](const at::Tensor&) {
    std::vector<at::Tensor> same_place;
    for (auto& tensors : parts) same_place.push_back(tensors.at(index));
    ++index;
    return concatenate_tensors(same_place, dim);
  });
}

/// Converts float16 and bfloat16 tensors to float32; the rest stay as they are.
template <class T>
T convert_to_fp32(T nest) {
  for_each_tensor(nest, [](at::Tensor& tensor) {
    if (tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16) tensor = tensor.to(at::kFloat);
  });
  return nest;
}

}  // namespace accelerate::tensors

namespace accelerate {
using tensors::concatenate;
using tensors::convert_to_fp32;
using tensors::find_batch_size;
using tensors::map_tensors;
using tensors::send_to_device;
using tensors::slice_tensors;
}  // namespace accelerate
