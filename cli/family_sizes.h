#pragma once

// What the families of models are described with: the sizes of a configuration, and a list of tensors.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/model_tensors.h"

namespace accelerate::cli {

/// The sizes of a configuration, checked when they are read. Every function throws Error naming the file and the key
/// for a value that it cannot use. A key that is null counts as absent.
class Sizes {
 public:
  /// `config` has to live as long as this.
  Sizes(const nlohmann::json& config, std::string source) : config_(config), source_(std::move(source)) {}

  /// The size that `key` has. Throws Error when there is none and no `preset`.
  uint64_t operator()(const std::string& key, std::optional<uint64_t> preset = std::nullopt) const;

  /// A number of layers, each of which becomes several names.
  uint64_t layers(const std::string& key, std::optional<uint64_t> preset = std::nullopt) const;

  /// The size that `key` has; nothing when it is absent or less than 1, which stands for absence.
  std::optional<uint64_t> if_positive(const std::string& key) const;

  /// Whether `key` is true.
  bool is_on(const std::string& key, bool preset) const;

  /// The words of a list, or of a text that separates them by "|", in lower case.
  std::vector<std::string> words(const std::string& key) const;

 private:
  const nlohmann::json* find(const std::string& key) const;

  const nlohmann::json& config_;
  std::string source_;
};

/// A list of tensors that grows by modules. Elements are float32 unless said otherwise.
class TensorList {
 public:
  void add(const std::string& name, uint64_t elements, uint64_t element_bytes = 4);
  void add_linear(const std::string& name, uint64_t inputs, uint64_t outputs, bool bias = true);
  void add_norm(const std::string& name, uint64_t size, bool bias = true);

  std::vector<ModelTensor> tensors;
};

}  // namespace accelerate::cli
