#include "transformers/heads.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/index.h>
#include <ATen/ops/linear.h>

#include "accelerate/base/error.h"

namespace transformers {

ClassificationHead::ClassificationHead(const ClassificationHeadOptions& options)
    : dropout_(options.dropout),
      activation_(activation(options.activation)),
      dense_(linear("dense", options.hidden_size, options.hidden_size)),
      output_(linear("out_proj", options.hidden_size, options.num_labels)) {}

at::Tensor ClassificationHead::forward(const at::Tensor& hidden_states) {
  auto x = dropout(hidden_states.select(1, 0), dropout_);
  x = activation_(dense_(x));
  return output_(dropout(x, dropout_));
}

DecoderForSequenceClassification::DecoderForSequenceClassification(std::string class_name,
                                                                   const PretrainedConfig& config,
                                                                   const std::string& prefix,
                                                                   std::shared_ptr<BaseModel> decoder,
                                                                   int64_t hidden_size)
    : SequenceClassificationModel(std::move(class_name), config, prefix),
      decoder_(block(prefix, std::move(decoder))),
      score_(linear("score", hidden_size, config.num_labels(), /*with_bias=*/false)) {}

at::Tensor DecoderForSequenceClassification::classify(const ModelInputs& inputs) {
  auto logits = score_(decoder_->forward(inputs).last_hidden_state);
  return at_last_token(logits, inputs.input_ids, config().find<int64_t>("pad_token_id"));
}

DecoderForCausalLM::DecoderForCausalLM(std::string class_name, const PretrainedConfig& config,
                                       const std::string& prefix, std::shared_ptr<BaseModel> decoder, Embedding words,
                                       bool tied)
    : CausalLMModel(std::move(class_name), config, prefix),
      decoder_(block(prefix, std::move(decoder))),
      words_(std::move(words)) {
  if (!tied) head_ = linear("lm_head", words_->weight.size(1), words_->weight.size(0), /*with_bias=*/false);
}

std::string DecoderForCausalLM::other_name_of(std::string_view weight) const {
  if (head_ || weight != "lm_head.weight") return "";
  for (const auto& item : named_parameters()) {
    if (item.value().is_same(words_->weight)) return item.key();
  }
  return "";
}

at::Tensor DecoderForCausalLM::predict(const ModelInputs& inputs) {
  auto x = decoder_->forward(inputs).last_hidden_state;
  return head_ ? head_(x) : at::linear(x, words_->weight);
}

at::Tensor at_last_token(const at::Tensor& per_token, const at::Tensor& input_ids, std::optional<int64_t> padding) {
  if (!padding) {
    if (input_ids.size(0) > 1) {
      accelerate::fail("a batch of ", input_ids.size(0),
                       " texts needs padding, but config.json has no pad_token_id; set it with "
                       "model->config().set(\"pad_token_id\", id), or pass one text at a time");
    }
    return per_token.select(1, -1);
  }
  auto options = input_ids.options();
  auto tokens = input_ids.ne(*padding).to(at::kInt);
  auto last = (at::arange(input_ids.size(1), options.dtype(at::kInt)) * tokens).argmax(-1);
  return at::index(per_token, {at::arange(input_ids.size(0), options.dtype(at::kLong)), last});
}

}  // namespace transformers
