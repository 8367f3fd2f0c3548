#pragma once

// Reads the fields of one component of a tokenizer.json, with errors that name the component and the field.

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace transformers::tokenizers {

/// The "type" of a component. Throws Error if it is missing; the message names the `family`, such as "decoder".
std::string component_type(const nlohmann::json& description, std::string_view family);

/// Throws Error for a type that `family` does not have; the message lists the `known` ones.
[[noreturn]] void fail_unknown_type(std::string_view family, std::string_view type,
                                    std::initializer_list<std::string_view> known);

/// Throws the Error for a field that is missing or is not `expected` ("a string").
[[noreturn]] void fail_field(const nlohmann::json& description, const char* name, std::string_view expected);

/// Whether `value` can be read as a T (bool, std::string or a number) without loss.
template <class T>
bool holds(const nlohmann::json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.is_boolean();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string();
  } else if constexpr (std::is_floating_point_v<T>) {
    return value.is_number();
  } else {
    static_assert(std::is_unsigned_v<T>);
    if (!value.is_number_integer()) return false;
    bool is_negative = !value.is_number_unsigned() && value.get<int64_t>() < 0;
    return !is_negative && value.get<uint64_t>() <= std::numeric_limits<T>::max();
  }
}

/// The name of T in error messages.
template <class T>
constexpr std::string_view kind_name() {
  if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "a string";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "a number";
  } else {
    return "a non-negative integer";
  }
}

/// The field `name`; nullopt if it is missing or null. Throws Error if it has another type.
template <class T>
std::optional<T> optional_field(const nlohmann::json& description, const char* name) {
  auto found = description.find(name);
  if (found == description.end() || found->is_null()) return std::nullopt;
  if (!holds<T>(*found)) fail_field(description, name, kind_name<T>());
  return found->get<T>();
}

/// The field `name`. Throws Error if it is missing.
template <class T>
T field(const nlohmann::json& description, const char* name) {
  auto value = optional_field<T>(description, name);
  if (!value) fail_field(description, name, kind_name<T>());
  return *std::move(value);
}

/// The field `name`, or `otherwise` if it is missing or null.
template <class T>
T field_or(const nlohmann::json& description, const char* name, T otherwise) {
  auto value = optional_field<T>(description, name);
  return value ? *std::move(value) : std::move(otherwise);
}

/// The list `name`. Throws Error if it is missing.
const nlohmann::json& list_field(const nlohmann::json& description, const char* name);

/// The object `name`. Throws Error if it is missing.
const nlohmann::json& object_field(const nlohmann::json& description, const char* name);

/// The field `name`: a string of exactly one character (code point).
std::string character_field(const nlohmann::json& description, const char* name);

}  // namespace transformers::tokenizers
