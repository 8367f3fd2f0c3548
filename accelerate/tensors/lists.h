#pragma once

// Visits the lists without tensors in a nest, such as the texts of a batch. They have one element per sample, like the
// rows of tensors.

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "accelerate/tensors/nest.h"

namespace accelerate::tensors {

namespace detail {

template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = !accelerate::tensors::holds_tensors<T>;

template <class T>
concept Mapping = requires { typename T::mapped_type; };

template <class T>
consteval bool holds_single_strings() {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<Plain, std::string>)
    return true;
  else if constexpr (std::is_same_v<Plain, Batch> || std::is_same_v<Plain, at::Tensor> || is_list<Plain>)
    return false;
  else if constexpr (HasFields<Plain>)
    return holds_single_strings<decltype(fields_of(std::declval<Plain&>()))>();
  else if constexpr (Tuple<Plain>)
    return []<size_t... I>(std::index_sequence<I...>) {
      return (holds_single_strings<std::tuple_element_t<I, Plain>>() || ...);
    }(std::make_index_sequence<std::tuple_size_v<Plain>>());
  else if constexpr (is_optional<Plain>)
    return holds_single_strings<typename Plain::value_type>();
  else if constexpr (Mapping<Plain>)
    return holds_single_strings<typename Plain::mapped_type>();
  else if constexpr (Range<Plain>)
    return holds_single_strings<std::ranges::range_value_t<Plain>>();
  else
    return false;
}

}  // namespace detail

/// Whether the nest contains a string outside of a list. Map keys do not count.
template <class T>
constexpr bool holds_single_strings = detail::holds_single_strings<T>();

/// Calls `visit(std::vector<...>&)` for every list without tensors, in a fixed order. A list of lists counts as one
/// list.
template <class T, class Visit>
void for_each_list(T& nest, Visit&& visit) {
  if constexpr (detail::is_list<T>) {
    visit(nest);
  } else if constexpr (std::is_same_v<T, Batch> || std::is_same_v<T, at::Tensor> || std::is_same_v<T, std::string>) {
    return;
  } else if constexpr (HasFields<T>) {
    std::apply([&](auto&... fields) { (for_each_list(fields, visit), ...); }, fields_of(nest));
  } else if constexpr (detail::Tuple<T>) {
    std::apply([&](auto&... parts) { (for_each_list(parts, visit), ...); }, nest);
  } else if constexpr (detail::is_optional<T>) {
    if (nest) for_each_list(*nest, visit);
  } else if constexpr (detail::Mapping<T>) {
    for (auto& [key, value] : nest) for_each_list(value, visit);
  } else if constexpr (detail::Range<T>) {
    for (auto&& part : nest) for_each_list(part, visit);
  }
}

}  // namespace accelerate::tensors
