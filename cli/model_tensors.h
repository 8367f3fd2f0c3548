#pragma once

// Which tensors a model has, told by its files alone: the weights' header, or the configuration of a known family.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace accelerate::cli {

/// A tensor and its size in float32; integers keep theirs.
struct ModelTensor {
  std::string name;
  uint64_t bytes = 0;
};

/// The modules of a family that stay together on a device, as Transformers defines them.
struct ModelBlocks {
  std::string list = {};    // the name of the list whose items they are: "layer" in encoder.layer.3
  bool embeddings = false;  // the module "embeddings" is one too
};

/// A model as its files describe it.
struct ModelDescription {
  std::vector<ModelTensor> tensors = {};
  ModelBlocks blocks = {};
};

/// Describes a safetensors file, a directory with one or with shards, a directory with only a config.json, or a
/// config.json. Throws Error naming the path when there is none of them, or a configuration of an unknown family.
ModelDescription describe_model(const std::filesystem::path& path);

/// Bytes in float32 of the whole and of the largest part that cannot be divided: a block, or a module without others.
struct ModelSize {
  uint64_t total_bytes = 0;
  uint64_t largest_layer_bytes = 0;
};

/// Adds the tensors up.
ModelSize measure(const ModelDescription& model);

/// The model that Transformers' AutoModel makes of a config.json. Throws Error naming `source` and listing the families
/// for another model_type, and naming the key for a value that is missing or no number.
ModelDescription describe_family(const nlohmann::json& config, const std::string& source);

/// What stays together on a device in models of this configuration; nothing is said of an unknown model_type.
ModelBlocks blocks_of_family(const nlohmann::json& config, const std::string& source);

}  // namespace accelerate::cli
