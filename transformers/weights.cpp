#include "transformers/weights.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <ATen/ops/empty.h>
#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"
#include "accelerate/tensors/safetensors_file.h"
#include "transformers/pretrained_model.h"

namespace transformers {

namespace {

namespace fs = std::filesystem;
using accelerate::fail;
using accelerate::tensors::SafetensorsFile;

/// The names in the index, each once.
std::set<std::string> shards_of(const fs::path& index) {
  std::set<std::string> names;
  try {
    auto json = nlohmann::json::parse(std::ifstream(index));
    for (const auto& [tensor, file] : json.at("weight_map").items()) names.insert(file.get<std::string>());
  } catch (const nlohmann::json::exception& error) {
    fail(index.string(), ": this is not the index of a sharded checkpoint: ", error.what());
  }
  for (const auto& name : names) {
    if (fs::path(name).filename() != name) fail(index.string(), ": the shard '", name, "' is not in this directory");
  }
  return names;
}

std::vector<SafetensorsFile> open_files(const fs::path& directory) {
  if (auto single = directory / "model.safetensors"; fs::exists(single)) return {SafetensorsFile(single)};
  auto index = directory / "model.safetensors.index.json";
  if (!fs::exists(index)) {
    fail(directory.string(), " has neither model.safetensors nor model.safetensors.index.json",
         fs::exists(directory / "pytorch_model.bin")
             ? "; pytorch_model.bin is not read: save the model as safetensors in Python first"
             : "");
  }
  std::vector<SafetensorsFile> files;
  for (const auto& name : shards_of(index)) {
    if (!fs::exists(directory / name)) fail(index.string(), ": the shard ", name, " is missing");
    files.emplace_back(directory / name);
  }
  return files;
}

void replace_end(std::string& name, std::string_view old_end, std::string_view new_end) {
  if (name.ends_with(old_end)) name.replace(name.size() - old_end.size(), old_end.size(), new_end);
}

/// Tables of positions that older versions stored although they can be computed.
bool is_computed(std::string_view name) {
  return name.ends_with("embeddings.position_ids") || name.ends_with("embeddings.token_type_ids") ||
         name.ends_with("rotary_emb.inv_freq") || name.ends_with("attn.masked_bias") ||
         (name.ends_with(".attn.bias") && name.find("h.") != name.npos);
}

struct Source {
  const SafetensorsFile* file;
  const SafetensorsFile::Entry* entry;
};

/// The names of a checkpoint as the model has them.
std::map<std::string, Source> sources_of(const std::vector<SafetensorsFile>& files,
                                         const std::map<std::string, at::Tensor>& parameters,
                                         const std::string& base_model_prefix) {
  std::map<std::string, Source> sources;
  for (const auto& file : files) {
    for (const auto& entry : file.entries()) {
      auto name = entry.name;
      replace_end(name, "LayerNorm.gamma", "LayerNorm.weight");
      replace_end(name, "LayerNorm.beta", "LayerNorm.bias");
      if (is_computed(name)) continue;
      if (!parameters.contains(name)) {
        auto with_prefix = base_model_prefix + "." + name;
        auto dot = name.find('.');
        if (parameters.contains(with_prefix)) {
          name = with_prefix;
        } else if (base_model_prefix.empty() && dot != name.npos && parameters.contains(name.substr(dot + 1))) {
          name = name.substr(dot + 1);
        }
      }
      sources[name] = {&file, &entry};
    }
  }
  return sources;
}

at::ScalarType type_of(const std::vector<SafetensorsFile>& files) {
  for (const auto& file : files) {
    for (const auto& entry : file.entries()) {
      if (at::isFloatingType(entry.type)) return entry.type;
    }
  }
  return at::kFloat;
}

std::map<std::string, at::Tensor> parameters_of(const PretrainedModel& model) {
  std::map<std::string, at::Tensor> parameters;
  for (const auto& item : model.named_parameters()) parameters[item.key()] = item.value();
  return parameters;
}

void set_type(const PretrainedModel& model, at::ScalarType type) {
  for (auto& parameter : model.parameters()) {
    if (parameter.scalar_type() != type)
      parameter.set_data(at::empty(parameter.sizes(), parameter.options().dtype(type)));
  }
}

using NewParameters = std::set<const at::TensorImpl*>;

/// Fills what no checkpoint did, in the order of the model: a module after the modules in it.
void initialize_new(torch::nn::Module& module, const NewParameters& parameters, double range) {
  auto is_new = [&](const at::Tensor& parameter) { return parameters.contains(parameter.unsafeGetTensorImpl()); };
  for (const auto& child : module.children()) initialize_new(*child, parameters, range);
  if (auto* layer = dynamic_cast<Layer*>(&module)) {
    for (const auto& item : layer->named_parameters(/*recurse=*/false)) {
      if (is_new(item.value())) layer->initialize(item.key(), range);
    }
  }
  if (auto* block = dynamic_cast<Block*>(&module)) block->initialize_again(is_new);
}

void initialize_new(PretrainedModel& model, const NewParameters& parameters) {
  at::NoGradGuard no_grad;
  if (!parameters.empty()) initialize_new(model, parameters, model.config().get("initializer_range", 0.02));
}

}  // namespace

LoadReport load_weights(PretrainedModel& model, const fs::path& directory, LoadOptions options) {
  auto files = open_files(directory);
  set_type(model, options.dtype.value_or(type_of(files)));
  auto parameters = parameters_of(model);
  auto sources = sources_of(files, parameters, model.base_model_prefix());

  at::NoGradGuard no_grad;
  LoadReport report;
  NewParameters fresh;
  for (auto& [name, parameter] : parameters) {
    auto source = sources.find(name);
    if (source == sources.end()) {
      report.missing.push_back(name);
      fresh.insert(parameter.unsafeGetTensorImpl());
    } else if (auto [file, entry] = source->second; parameter.sizes() != at::IntArrayRef(entry->shape)) {
      report.mismatched.push_back({name, entry->shape, parameter.sizes().vec()});
      fresh.insert(parameter.unsafeGetTensorImpl());
    } else {
      file->copy_into(*entry, parameter);
    }
  }
  for (const auto& [name, source] : sources) {
    if (!parameters.contains(name) && !model.ignores(name)) report.unexpected.push_back(name);
  }
  if (!report.mismatched.empty() && !options.ignore_mismatched_sizes) {
    fail(directory.string(), ": weights have other shapes than the model; give ignore_mismatched_sizes to initialise ",
         "these anew\n", report.table());
  }
  initialize_new(model, fresh);
  return report;
}

void initialize_weights(PretrainedModel& model) {
  NewParameters all;
  for (const auto& parameter : model.parameters()) all.insert(parameter.unsafeGetTensorImpl());
  initialize_new(model, all);
}

}  // namespace transformers
