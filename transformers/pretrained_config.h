#pragma once

// config.json of a checkpoint: what a model is made from.

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace transformers {

/// A key with the value that a model uses, which may be its default.
struct ConfigValue {
  std::string_view key;
  int64_t value;
};

/// The keys and values of a config.json, with all keys kept, also those that nothing here reads. Nested values are
/// reached with dots: "rope_parameters.rope_theta".
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

  /// Reads config.json of a directory, or of a name in the local Hugging Face cache.
  static PretrainedConfig from_pretrained(const std::string& checkpoint, const std::string& revision = "main");

  /// Laid out as Python writes it: keys in order, two spaces, a newline at the end.
  std::string to_json() const;

  /// Whether there is such a key of the first level; its value may be null.
  bool contains(std::string_view key) const;

  /// Whether the value of `key` is a text; some keys are a list or a text.
  bool is_text(std::string_view key) const;

  /// The value of `key`, or nothing when it is absent or null. Throws Error when it has another type, or one of
  /// Transformers' keys has a value that it cannot have, such as a negative size. T is int64_t, double, bool,
  /// std::string, or a vector of int64_t, double or std::string.
  template <class T>
  std::optional<T> find(std::string_view key) const;

  template <class T>
  T get(std::string_view key, T fallback) const {
    return find<T>(key).value_or(std::move(fallback));
  }

  /// Gives `value` what `key` says; leaves it when the key is absent or null.
  template <class T>
  void read(std::string_view key, T& value) const {
    if (auto found = find<T>(key)) value = std::move(*found);
  }

  /// The same for a key that has no default; throws Error when it is missing.
  template <class T>
  T require(std::string_view key) const;

  /// A number that has to be at least 1, because others are divided by it; throws Error when it is not.
  int64_t positive(std::string_view key, int64_t fallback) const;

  /// The file that it was read from, or what else `source` of from_json said.
  const std::string& source() const;

  /// Throws Error for values that do not go together, with the source, the keys and `reason`.
  [[noreturn]] void refuse(std::initializer_list<ConfigValue> values, std::string_view reason) const;

  /// The largest whole number of the first level, as `"vocab_size": 5`, for errors about memory.
  std::string largest_number() const;

  /// Sets a key of the first level.
  template <class T>
  void set(std::string_view key, const T& value);

  /// "bert", "llama", ...; empty when the file does not say.
  std::string model_type() const { return get<std::string>("model_type", ""); }

  /// The number of labels in id2label; without it num_labels, and 2 without either.
  int64_t num_labels() const;

  /// Gives the labels the names LABEL_0, LABEL_1, ... unless there are `count` of them already.
  void set_num_labels(int64_t count);

 private:
  struct Values;
  std::unique_ptr<Values> values_;
};

/// Reads the configuration of any checkpoint, as in Python.
using AutoConfig = PretrainedConfig;

}  // namespace transformers
