#pragma once

// A value as the text that a notebook shows for it.

#include <concepts>
#include <optional>
#include <ostream>
#include <ranges>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ATen/core/Tensor.h>

#include "notebook/runtime/enum_text.h"
#include "notebook/runtime/tensor_text.h"
#include "notebook/runtime/type_text.h"

namespace accelerate::notebook {

namespace detail {

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };

/// A path is a range of paths, which would have no end.
template <class T>
concept Range = std::ranges::input_range<const T> && !std::same_as<std::ranges::range_value_t<const T>, T>;

template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };

}  // namespace detail

/// Tensors with type, shape and values; texts in quotes, or nullptr; containers, pairs and tuples with their elements,
/// at most 100 of them; anything with operator<< by that; values of enumerations by name; otherwise the name of the
/// type.
template <class T>
std::string value_text(const T& value) {
  if constexpr (std::same_as<T, at::Tensor>) {
    return tensor_text(value);
  } else if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    if constexpr (std::is_pointer_v<T>) {
      if (value == nullptr) return "nullptr";
    }
    return "\"" + std::string(std::string_view(value)) + "\"";
  } else if constexpr (detail::Range<T>) {
    std::string text;
    size_t count = 0;
    for (const auto& element : value) {
      if (++count > 100) {
        text += ", ...";
        break;
      }
      text += (text.empty() ? "" : ", ") + value_text<std::remove_cvref_t<decltype(element)>>(element);
    }
    return "{" + text + "}";
  } else if constexpr (requires { value.has_value(), *value; }) {
    return value.has_value() ? value_text(*value) : "nullopt";
  } else if constexpr (detail::TupleLike<T>) {
    std::string text;
    std::apply([&](const auto&... parts) { ((text += (text.empty() ? "" : ", ") + value_text(parts)), ...); }, value);
    return "{" + text + "}";
  } else if constexpr (detail::PlainEnum<T>) {
    return enum_value_text(value);
  } else if constexpr (detail::Streamable<T>) {
    std::ostringstream text;
    text << value;
    return text.str();
  } else {
    return "<" + type_text(typeid(T)) + ">";
  }
}

}  // namespace accelerate::notebook
