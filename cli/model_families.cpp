#include "cli/model_tensors.h"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"
#include "cli/family_tensors.h"

namespace accelerate::cli {

namespace {

/// How a family is described.
struct Family {
  ModelBlocks blocks;
  std::function<std::vector<ModelTensor>(const Sizes&)> tensors = nullptr;  // none: only known from its weights
};

const std::map<std::string, Family>& families() {
  static const ModelBlocks kBertBlocks{.list = "layer", .embeddings = true}, kLayers{.list = "layers"};
  auto llama = [](const Sizes& size) {
    bool bias = size.is_on("attention_bias", false);
    return llama_tensors(size, {.qkv_bias = bias, .output_bias = bias});
  };
  auto mistral = [](const Sizes& size) { return llama_tensors(size, {}); };
  auto qwen2 = [](const Sizes& size) { return llama_tensors(size, {.qkv_bias = true}); };
  auto qwen3 = [](const Sizes& size) {
    bool bias = size.is_on("attention_bias", false);
    return llama_tensors(size, {.qkv_bias = bias, .output_bias = bias, .head_norms = true, .head_dim = 128});
  };
  static const std::map<std::string, Family> kAll = {
      {"albert", {{}, albert_tensors}},
      {"bert", {kBertBlocks, bert_tensors}},
      {"camembert", {kBertBlocks, bert_tensors}},
      {"deberta-v2", {{}, deberta_v2_tensors}},
      {"distilbert", {{}, distilbert_tensors}},
      {"electra", {{}, electra_tensors}},
      {"gpt2", {{.list = "h"}, gpt2_tensors}},
      {"llama", {kLayers, llama}},
      {"mistral", {kLayers, mistral}},
      {"modernbert", {{.list = "layers", .embeddings = true}, modernbert_tensors}},
      {"mpnet", {{}, mpnet_tensors}},
      {"qwen2", {kLayers, qwen2}},
      {"qwen3", {kLayers, qwen3}},
      {"roberta", {kBertBlocks, bert_tensors}},
      {"xlm-roberta", {kBertBlocks, bert_tensors}},
      {"bart", {kLayers}},
      {"gemma", {kLayers}},
      {"gpt_neox", {kLayers}},
      {"opt", {kLayers}},
      {"phi", {kLayers}},
      {"t5", {{.list = "block"}}},
      {"vit", {kBertBlocks}},
  };
  return kAll;
}

std::string family_of(const nlohmann::json& config, const std::string& source) {
  auto found = config.find("model_type");
  if (found == config.end() || found->is_null()) return "";
  if (!found->is_string()) fail(source, ": model_type is ", found->dump(), "; it must be a word such as \"bert\"");
  return found->get<std::string>();
}

}  // namespace

ModelDescription describe_family(const nlohmann::json& config, const std::string& source) {
  auto type = family_of(config, source);
  auto found = families().find(type);
  if (found == families().end() || !found->second.tensors) {
    std::vector<std::string> known;
    for (const auto& [name, family] : families()) {
      if (family.tensors) known.push_back(name);
    }
    fail(source, ": model_type is '", type, "'; the sizes of ", listed(known),
         " are known from their configuration; other models need their safetensors files");
  }
  return {found->second.tensors(Sizes(config, source)), found->second.blocks};
}

ModelBlocks blocks_of_family(const nlohmann::json& config, const std::string& source) {
  auto found = families().find(family_of(config, source));
  return found == families().end() ? ModelBlocks{} : found->second.blocks;
}

}  // namespace accelerate::cli
