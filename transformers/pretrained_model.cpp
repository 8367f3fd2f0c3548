#include "transformers/pretrained_model.h"

#include <ATen/ops/aminmax.h>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "transformers/dtype_names.h"
#include "transformers/gradient_checkpoint.h"
#include "transformers/loss.h"
#include "transformers/weights.h"

namespace transformers {

using accelerate::fail;

ModelInputs ModelInputs::from(const accelerate::Batch& batch) {
  ModelInputs inputs;
  for (const auto& [name, tensor] : batch) {
    if (name == "input_ids") {
      inputs.input_ids = tensor;
    } else if (name == "attention_mask") {
      inputs.attention_mask = tensor;
    } else if (name == "token_type_ids") {
      inputs.token_type_ids = tensor;
    } else if (name == "position_ids") {
      inputs.position_ids = tensor;
    } else if (name == "labels" || name == "label") {
      inputs.labels = tensor;
    } else {
      fail("a model does not take '", name,
           "'; it takes input_ids, attention_mask, token_type_ids, position_ids and labels");
    }
  }
  if (!inputs.input_ids.defined()) fail("the batch has no input_ids, which a model needs");
  return inputs;
}

void PretrainedModel::gradient_checkpointing_enable(bool on) {
  gradient_checkpointing_ = on;
  for (const auto& part : modules(/*include_self=*/false)) {
    if (auto* model = dynamic_cast<PretrainedModel*>(part.get())) model->gradient_checkpointing_enable(on);
  }
}

at::Tensor PretrainedModel::checkpointed(const at::Tensor& x,
                                         const std::function<at::Tensor(const at::Tensor&)>& layer) const {
  if (!gradient_checkpointing_ || !is_training()) return layer(x);
  return gradient_checkpoint([layer](const auto& inputs) { return layer(inputs[0]); }, {x});
}

at::Tensor PretrainedModel::checkpointed(
    const at::Tensor& x, const at::Tensor& shared,
    const std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>& layer) const {
  if (!shared.defined()) return checkpointed(x, [layer](const at::Tensor& x) { return layer(x, {}); });
  if (!gradient_checkpointing_ || !is_training()) return layer(x, shared);
  return gradient_checkpoint([layer](const auto& inputs) { return layer(inputs[0], inputs[1]); }, {x, shared});
}

void PretrainedModel::save_pretrained(const std::filesystem::path& directory, SaveOptions options) const {
  accelerate::make_directories(directory);
  auto config = config_;
  config.set("architectures", std::vector<std::string>{name()});
  if (auto all = parameters(); !all.empty()) {
    auto dtype = python_name_of(all.front().scalar_type());
    config.set("dtype", dtype);
    if (config.contains("torch_dtype")) config.set("torch_dtype", dtype);  // the key of older versions
  }
  // Takes its name last, so that a disk that is full does not leave it beside the weights of another model.
  accelerate::AtomicFile file(directory / "config.json");
  file.append(config.to_json());
  save_weights(*this, directory, options.max_shard_size);
  file.commit();
}

SequenceClassifierOutput SequenceClassificationModel::forward(const ModelInputs& inputs) {
  auto logits = classify(inputs);
  if (!inputs.labels.defined()) return {.loss = {}, .logits = logits};
  return {.loss = loss(logits, inputs.labels), .logits = logits};
}

at::Tensor SequenceClassificationModel::loss(const at::Tensor& logits, const at::Tensor& labels) {
  return sequence_classification_loss(logits, labels, config());
}

CausalLMOutput CausalLMModel::forward(const ModelInputs& inputs) {
  auto logits = predict(inputs);
  if (!inputs.labels.defined()) return {.loss = {}, .logits = logits};
  return {.loss = causal_lm_loss(logits, inputs.labels), .logits = logits};
}

void check_inputs(const ModelInputs& inputs, int64_t vocabulary, int64_t max_length) {
  const auto& ids = inputs.input_ids;
  if (ids.dim() != 2) fail("input_ids must be [batch, length], not ", ids.sizes());
  if (inputs.attention_mask.defined() && inputs.attention_mask.sizes() != ids.sizes()) {
    fail("attention_mask is ", inputs.attention_mask.sizes(), ", but input_ids is ", ids.sizes());
  }
  if (max_length > 0 && ids.size(1) > max_length) {
    fail("a text of ", ids.size(1), " tokens is longer than the ", max_length,
         " positions of the model; truncate it when you tokenise it");
  }
  if (!ids.is_cpu() || ids.numel() == 0) return;  // looking at the values of a device would mean waiting for it
  auto [smallest, largest] = at::aminmax(ids);
  for (auto id : {smallest.item<int64_t>(), largest.item<int64_t>()}) {
    if (id < 0 || id >= vocabulary) {
      fail("the token ", id, " is outside the model's vocabulary of ", vocabulary,
           "; does the tokenizer match the model?");
    }
  }
}

}  // namespace transformers
