#pragma once

// Detects structs that hold tensors but have no tensor_fields, so that functions on nests can reject them at compile
// time.

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "accelerate/tensors/nest.h"

namespace accelerate::tensors {

namespace detail {

/// Converts to a member of any type; the next two to a tensor and to a list of tensors.
struct AnyMember {
  template <class T>
  operator T() const;
};
struct TensorMember {
  operator at::Tensor() const;
};
struct TensorsMember {
  operator std::vector<at::Tensor>() const;
};

template <class Struct, class Member, class... Before>
consteval bool has_member() {
  if constexpr (requires { Struct{std::declval<Before>()..., std::declval<Member>()}; }) {
    return true;
  } else if constexpr (sizeof...(Before) < 16 && requires { Struct{std::declval<Before>()..., AnyMember()}; }) {
    return has_member<Struct, Member, Before..., AnyMember>();
  } else {
    return false;
  }
}

template <class T>
consteval bool hides_tensors() {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<Plain, at::Tensor> || HasFields<Plain>)
    return false;
  else if constexpr (Tuple<Plain>)
    return []<size_t... I>(std::index_sequence<I...>) {
      return (hides_tensors<std::tuple_element_t<I, Plain>>() || ...);
    }(std::make_index_sequence<std::tuple_size_v<Plain>>());
  else if constexpr (is_optional<Plain>)
    return hides_tensors<typename Plain::value_type>();
  else if constexpr (Range<Plain>)
    return hides_tensors<std::ranges::range_value_t<Plain>>();
  else if constexpr (std::is_aggregate_v<Plain> && std::is_class_v<Plain>)
    return has_member<Plain, TensorMember>() || has_member<Plain, TensorsMember>();
  else
    return false;
}

}  // namespace detail

/// Whether the nest contains an aggregate that holds tensors but has no tensor_fields function. Classes with
/// constructors are not inspected.
template <class T>
constexpr bool hides_tensors = detail::hides_tensors<T>();

}  // namespace accelerate::tensors
