#pragma once

// A value as the text that a notebook shows for it.

#include <cxxabi.h>

#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <ostream>
#include <ranges>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <ATen/core/Tensor.h>

namespace accelerate::notebook {

/// "float32 [2, 3]" and the values below, as rows within brackets. Of a tensor with more than 1000 values only the
/// first and last three of each dimension are shown.
std::string tensor_text(const at::Tensor& tensor);

/// "std::runtime_error" for its typeid.
inline std::string type_text(const std::type_info& type) {
  char* name = abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr);
  std::string text = name ? name : type.name();
  std::free(name);
  return text;
}

/// Returns the name of an enumerator; nullopt for an unknown type. `bits` is the value converted to int64_t; large
/// values of unsigned types become negative.
using EnumNamer = std::function<std::optional<std::string>(const std::type_info& type, int64_t bits)>;

/// Sets the function that enum_text uses.
void name_enumerators_by(EnumNamer namer);

/// The text that the namer gives; otherwise the number, behind the name of the type if it is `scoped`.
std::string enum_text(const std::type_info& type, int64_t bits, const std::string& number, bool scoped);

namespace detail {

/// An enumeration without its own operator<<. An unscoped one can always be printed as int.
template <class T>
concept PlainEnum = std::is_enum_v<T> && (std::is_convertible_v<T, int> ? !requires(std::ostream& out, const T& value) {
                      operator<<(out, value);
                    } : !requires(std::ostream& out, const T& value) { out << value; });

}  // namespace detail

/// The text of an enumeration value. The interpreter finds the types of values by the instantiations of this template
/// (worker/enumerator_names.h).
template <detail::PlainEnum T>
std::string enum_value_text(T value) {
  auto number = static_cast<std::underlying_type_t<T>>(value);
  return enum_text(typeid(T), static_cast<int64_t>(number), std::to_string(number), !std::is_convertible_v<T, int>);
}

namespace detail {

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };

/// A range whose elements have another type: std::filesystem::path is a range of paths, and would recurse forever.
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
