#include "transformers/weights.h"

#include <map>
#include <set>

#include <ATen/ops/empty.h>

#include "accelerate/base/error.h"
#include "accelerate/tensors/weight_files.h"
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

/// Tables of positions that older versions stored although they can be computed.
bool is_computed(std::string_view name) {
  return name.ends_with("embeddings.position_ids") || name.ends_with("embeddings.token_type_ids") ||
         name.ends_with("rotary_emb.inv_freq") || name.ends_with("attn.masked_bias") ||
         (name.ends_with(".attn.bias") && name.find("h.") != name.npos);
}

/// The names of a checkpoint as the model has them.
std::map<std::string, const StoredTensor*> sources_of(const StoredTensors& tensors,
                                                      const std::map<std::string, at::Tensor>& parameters,
                                                      const std::string& base_model_prefix) {
  std::map<std::string, const StoredTensor*> sources;
  for (const auto& [stored_name, tensor] : tensors) {
    auto name = stored_name;
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
    sources[name] = &tensor;
  }
  return sources;
}

at::ScalarType type_of(const StoredTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (at::isFloatingType(tensor.type)) return tensor.type;
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
  auto tensors = accelerate::tensors::open_weights(directory);
  set_type(model, options.dtype.value_or(type_of(tensors)));
  auto parameters = parameters_of(model);
  auto sources = sources_of(tensors, parameters, model.base_model_prefix());

  at::NoGradGuard no_grad;
  LoadReport report;
  NewParameters fresh;
  for (auto& [name, parameter] : parameters) {
    auto source = sources.find(name);
    if (source == sources.end()) {
      report.missing.push_back(name);
      fresh.insert(parameter.unsafeGetTensorImpl());
    } else if (const auto& tensor = *source->second; parameter.sizes() != at::IntArrayRef(tensor.shape)) {
      report.mismatched.push_back({name, tensor.shape, parameter.sizes().vec()});
      fresh.insert(parameter.unsafeGetTensorImpl());
    } else {
      tensor.copy_into(parameter);
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
