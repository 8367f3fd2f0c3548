#pragma once

// The configuration of a model: config.json of a checkpoint.

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace transformers {

/// A key and the value that a model uses for it, for error messages. The value may be a default.
struct ConfigValue {
  std::string_view key;
  int64_t value;
};

/// The keys and values of a config.json. Unknown keys are kept. Nested values are addressed with dots:
/// "rope_parameters.rope_theta".
class PretrainedConfig {
 public:
  PretrainedConfig();
  ~PretrainedConfig();
  PretrainedConfig(const PretrainedConfig& other);
  PretrainedConfig& operator=(const PretrainedConfig& other);
  PretrainedConfig(PretrainedConfig&&) noexcept;
  PretrainedConfig& operator=(PretrainedConfig&&) noexcept;

  /// Reads JSON text; `source` names it in errors.
  static PretrainedConfig from_json(std::string_view text, const std::string& source);

  /// Reads config.json from a directory, or from a repository in the local Hugging Face cache.
  static PretrainedConfig from_pretrained(const std::string& checkpoint, const std::string& revision = "main");

  /// The JSON text in Python's layout: sorted keys, indentation by two spaces, a newline at the end.
  std::string to_json() const;

  /// Whether the top level has this key. Its value may be null.
  bool contains(std::string_view key) const;

  /// Whether the value of `key` is a string. The value of some keys can be a string or a list.
  bool is_text(std::string_view key) const;

  /// The value of `key`; nullopt if it is absent or null. Throws Error if it has another type, or if the value is not
  /// allowed for the key (config_rules.h), such as a negative size. T is int64_t, double, bool, std::string, or a
  /// vector of int64_t, double or std::string.
  template <class T>
  std::optional<T> find(std::string_view key) const;

  template <class T>
  T get(std::string_view key, T fallback) const {
    return find<T>(key).value_or(std::move(fallback));
  }

  /// Sets `value` to the value of `key`; leaves it unchanged if the key is absent or null.
  template <class T>
  void read(std::string_view key, T& value) const {
    if (auto found = find<T>(key)) value = std::move(*found);
  }

  /// The value of a key that has no default. Throws Error if it is missing.
  template <class T>
  T require(std::string_view key) const;

  /// A number that must be at least 1, because it is used as a divisor. Throws Error otherwise.
  int64_t positive(std::string_view key, int64_t fallback) const;

  /// The file that it was read from, or `source` of from_json.
  const std::string& source() const;

  /// Throws Error for values that contradict each other. The message has the source, the keys and `reason`.
  [[noreturn]] void refuse(std::initializer_list<ConfigValue> values, std::string_view reason) const;

  /// The largest integer of the top level, such as `"vocab_size": 5`, for error messages about memory.
  std::string largest_number() const;

  /// Sets a key of the top level.
  template <class T>
  void set(std::string_view key, const T& value);

  /// "bert", "llama", ...; empty if the key is absent.
  std::string model_type() const { return get<std::string>("model_type", ""); }

  /// The number of labels: that of id2label, else num_labels, else 2.
  int64_t num_labels() const;

  /// Sets the number of labels and names them LABEL_0, LABEL_1, ... Does nothing if there are `count` labels already.
  /// Throws Error if `count` is below 1.
  void set_num_labels(int64_t count);

 private:
  struct Values;
  std::unique_ptr<Values> values_;
};

/// Reads the configuration of any checkpoint, as in Python.
using AutoConfig = PretrainedConfig;

}  // namespace transformers
