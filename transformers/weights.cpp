#include "transformers/weights.h"

#include <unistd.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>

#include "accelerate/base/error.h"
#include "accelerate/tensors/files/weight_files.h"
#include "accelerate/tensors/save_shards.h"
#include "accelerate/tensors/stored_tensor.h"
#include "transformers/dtype_names.h"
#include "transformers/pretrained_model.h"

namespace transformers {

namespace {

namespace fs = std::filesystem;
using accelerate::fail;
using accelerate::tensors::StoredTensor;
using accelerate::tensors::StoredTensors;

void replace_end(std::string& name, std::string_view old_end, std::string_view new_end) {
  if (name.ends_with(old_end)) name.replace(name.size() - old_end.size(), old_end.size(), new_end);
}

/// Buffers that older versions of Transformers stored although they can be computed.
bool is_computed(std::string_view name) {
  return name.ends_with("embeddings.position_ids") || name.ends_with("embeddings.token_type_ids") ||
         name.ends_with("rotary_emb.inv_freq") || name.ends_with("attn.masked_bias") ||
         (name.ends_with(".attn.bias") && name.find("h.") != name.npos);
}

using Weights = std::map<std::string, at::Tensor>;

/// Converts the name of a weight in a checkpoint to that in the model, by adding or removing the prefix of the base
/// model.
std::string name_in_model(std::string name, const Weights& weights, const std::string& base_model_prefix) {
  replace_end(name, "LayerNorm.gamma", "LayerNorm.weight");
  replace_end(name, "LayerNorm.beta", "LayerNorm.bias");
  if (weights.contains(name)) return name;
  auto prefix = base_model_prefix + ".";
  if (weights.contains(prefix + name)) return prefix + name;
  if (name.starts_with(prefix) && weights.contains(name.substr(prefix.size()))) return name.substr(prefix.size());
  return name;
}

using Sources = std::map<std::string, const StoredTensor*>;

/// The tensors of a checkpoint by their names in the model.
Sources sources_of(const StoredTensors& tensors, const Weights& weights, const std::string& base_model_prefix) {
  Sources sources;
  for (const auto& [stored_name, tensor] : tensors) {
    auto name = name_in_model(stored_name, weights, base_model_prefix);
    if (weights.contains(name) || !is_computed(name)) sources[name] = &tensor;
  }
  return sources;
}

/// Replaces other names of tied weights by the name in the model. Throws Error if a checkpoint has both and they
/// differ.
void resolve_other_names(Sources& sources, const PretrainedModel& model, const fs::path& directory) {
  for (auto source = sources.begin(); source != sources.end();) {
    const auto weight = model.other_name_of(source->first);
    if (weight.empty()) {
      ++source;
      continue;
    }
    const auto [place, is_only] = sources.emplace(weight, source->second);
    if (!is_only && !at::equal(place->second->read(), source->second->read().to(place->second->type))) {
      fail(directory.string(), ": ", source->first, " and ", weight, " differ, but config.json ties them; ",
           "set its tie_word_embeddings to false to use both");
    }
    source = sources.erase(source);
  }
}

/// The dtype in the configuration. As in Python, it has priority over that of the files.
std::optional<at::ScalarType> type_in(const PretrainedConfig& config) {
  auto name = config.find<std::string>("dtype");
  if (!name) name = config.find<std::string>("torch_dtype");  // the key of older versions
  return name ? std::optional(type_called(*name)) : std::nullopt;
}

at::ScalarType type_of(const StoredTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (at::isFloatingType(tensor.type) && !at::isFloat8Type(tensor.type)) return tensor.type;
  }
  return at::kFloat;
}

Weights weights_of(const PretrainedModel& model) {
  Weights weights;
  for (const auto& item : model.named_parameters()) weights[item.key()] = item.value();
  for (const auto& item : model.named_buffers()) weights[item.key()] = item.value();
  return weights;
}

/// Sets the dtype of all parameters. Those of layers are not initialised yet; those of other modules keep their values.
void set_type(const torch::nn::Module& module, at::ScalarType type) {
  bool is_layer = dynamic_cast<const Layer*>(&module) != nullptr;
  for (auto& parameter : module.parameters(/*recurse=*/false)) {
    if (parameter.scalar_type() == type) continue;
    auto options = parameter.options().dtype(type);
    parameter.set_data(is_layer ? at::empty(parameter.sizes(), options) : parameter.detach().to(options));
  }
  for (const auto& child : module.children()) set_type(*child, type);
}

using NewParameters = std::set<const at::TensorImpl*>;

/// Initialises `parameters`, in the order of the model: a module after its children.
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

/// Initialises a model in the order of Python's constructors. Each layer draws random numbers that are discarded. Then
/// each PretrainedModel, nested ones first, initialises the parameters that no model inside it has initialised.
void initialize_as_constructed(torch::nn::Module& module, NewParameters& parameters, double range) {
  for (const auto& child : module.children()) initialize_as_constructed(*child, parameters, range);
  if (auto* layer = dynamic_cast<Layer*>(&module)) layer->draw_once();
  if (!dynamic_cast<PretrainedModel*>(&module)) return;
  initialize_new(module, parameters, range);
  for (const auto& parameter : module.parameters()) parameters.erase(parameter.unsafeGetTensorImpl());
}

double initializer_range(const PretrainedModel& model) { return model.config().get("initializer_range", 0.02); }

/// Throws Error if the new weights exceed the memory of the machine. Otherwise the OOM killer would end this or another
/// process, because pages are allocated on first write.
void check_memory(const PretrainedModel& model, const NewParameters& parameters) {
  size_t bytes = 0;
  for (const auto* parameter : parameters) {
    bytes += static_cast<size_t>(parameter->numel()) * parameter->itemsize();
  }
  auto memory = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
  if (bytes <= memory) return;
  constexpr double kGigabyte = 1e9;
  fail(model.config().source(), ": new weights of ", static_cast<double>(bytes) / kGigabyte,
       " GB do not fit into the memory of this machine, ", static_cast<double>(memory) / kGigabyte,
       " GB; the largest number of the configuration is ", model.config().largest_number());
}

void initialize_new(PretrainedModel& model, const NewParameters& parameters) {
  at::NoGradGuard no_grad;
  check_memory(model, parameters);
  if (!parameters.empty()) initialize_new(model, parameters, initializer_range(model));
}

}  // namespace

LoadReport load_weights(PretrainedModel& model, const fs::path& directory, LoadOptions options) {
  auto tensors = accelerate::tensors::open_weights(directory);
  auto type = options.dtype ? options.dtype : type_in(model.config());
  set_type(model, type ? *type : type_of(tensors));
  auto weights = weights_of(model);
  auto sources = sources_of(tensors, weights, model.base_model_prefix());
  resolve_other_names(sources, model, directory);

  at::NoGradGuard no_grad;
  LoadReport report;
  NewParameters fresh;
  std::vector<std::pair<at::Tensor, StoredTensor>> known;
  for (auto& [name, weight] : weights) {
    auto source = sources.find(name);
    if (source == sources.end()) {
      report.missing.push_back(name);
      fresh.insert(weight.unsafeGetTensorImpl());
    } else if (const auto& tensor = *source->second; weight.sizes() != at::IntArrayRef(tensor.shape)) {
      report.mismatched.push_back({name, tensor.shape, weight.sizes().vec()});
      fresh.insert(weight.unsafeGetTensorImpl());
    } else {
      if (weight.is_cpu() && weight.scalar_type() == tensor.type) weight.set_data(tensor.empty());
      known.emplace_back(weight, tensor);
    }
  }
  for (const auto& [name, source] : sources) {
    if (!weights.contains(name) && !model.ignores(name)) report.unexpected.push_back(name);
  }
  if (!report.mismatched.empty() && !options.ignore_mismatched_sizes) {
    fail(directory.string(), ": shapes of weights differ from config.json; set ignore_mismatched_sizes to initialise ",
         "them again\n", report.table());
  }
  accelerate::tensors::copy_all(known);
  initialize_new(model, fresh);
  return report;
}

void initialize_weights(PretrainedModel& model) {
  if (auto type = type_in(model.config())) set_type(model, *type);
  NewParameters all;
  for (const auto& parameter : model.parameters()) all.insert(parameter.unsafeGetTensorImpl());
  check_memory(model, all);
  at::NoGradGuard no_grad;
  initialize_as_constructed(model, all, initializer_range(model));
}

void save_weights(const torch::nn::Module& model, const std::filesystem::path& directory, uint64_t max_shard_size) {
  accelerate::tensors::TensorList weights;
  for (const auto& item : model.named_parameters()) weights.emplace_back(item.key(), item.value());
  for (const auto& item : model.named_buffers()) weights.emplace_back(item.key(), item.value());
  accelerate::tensors::save_shards(weights, directory, {.max_shard_bytes = max_shard_size, .count_parameters = true});
}

}  // namespace transformers
