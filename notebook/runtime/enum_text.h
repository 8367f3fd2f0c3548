#pragma once

// Values of enumerations by the names of their enumerators, which only the compiler knows.

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <typeinfo>

namespace accelerate::notebook {

/// The text of a value; nothing for a type that is not known. `bits` is the value as a number, and those of a type
/// without sign may exceed it.
using EnumNamer = std::function<std::optional<std::string>(const std::type_info& type, int64_t bits)>;

/// From now on values get their texts from here.
void name_enumerators_by(EnumNamer namer);

/// The text that the namer gives; otherwise the number, behind the name of the type if it is `scoped`.
std::string enum_text(const std::type_info& type, int64_t bits, const std::string& number, bool scoped);

namespace detail {

/// Without an operator<< of its own. An enumeration that is not scoped has that of int.
template <class T>
concept PlainEnum = std::is_enum_v<T> && (std::is_convertible_v<T, int> ? !requires(std::ostream& out, const T& value) {
                      operator<<(out, value);
                    } : !requires(std::ostream& out, const T& value) { out << value; });

}  // namespace detail

/// Where the interpreter finds the types of values (worker/enumerator_names.h).
template <detail::PlainEnum T>
std::string enum_value_text(T value) {
  auto number = static_cast<std::underlying_type_t<T>>(value);
  return enum_text(typeid(T), static_cast<int64_t>(number), std::to_string(number), !std::is_convertible_v<T, int>);
}

}  // namespace accelerate::notebook
