// DeBERTa-v2 and v3 (He et al., 2020 and 2021): attention with separate vectors for content and position.

#include <vector>

#include <ATen/ops/conv1d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/zeros_like.h>

#include "accelerate/base/error.h"
#include "transformers/loss.h"
#include "transformers/models/deberta_v2_attention.h"
#include "transformers/models/families.h"
#include "transformers/positions.h"

namespace transformers {

namespace {

/// The sum of token embeddings and, if the model has them, position and segment embeddings.
class DebertaV2Embeddings : public Block {
 public:
  explicit DebertaV2Embeddings(const DebertaV2Config& config);
  at::Tensor forward(const ModelInputs& inputs);

 private:
  double dropout_;
  Embedding word_embeddings_, position_embeddings_ = nullptr, token_type_embeddings_ = nullptr;
  Linear projection_ = nullptr;
  LayerNorm norm_ = nullptr;
};

/// BERT's layer with disentangled attention.
class DebertaV2Layer : public BertFeedForward {
 public:
  explicit DebertaV2Layer(const DebertaV2Config& config);
  at::Tensor forward(at::Tensor x, const DebertaV2Context& context, const at::Tensor& distances);

 private:
  double dropout_;
  std::shared_ptr<DebertaV2Attention> attention_;
  Linear attention_output_;
  LayerNorm attention_norm_;
};

/// A convolution over neighbouring tokens, beside the first layer.
class DebertaV2Convolution : public Block {
 public:
  explicit DebertaV2Convolution(const DebertaV2Config& config);

  /// `x` is the input of the first layer, `residual` its output; `attention_mask` may be undefined.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& attention_mask);

 private:
  class KernelImpl;

  double dropout_;
  Activation activation_;
  std::shared_ptr<KernelImpl> kernel_;
  LayerNorm norm_;
};

/// The encoder; without a pooler.
class DebertaV2Model : public BaseModel {
 public:
  explicit DebertaV2Model(const PretrainedConfig& config);
  const DebertaV2Config& sizes() const { return sizes_; }
  bool ignores(std::string_view weight) const override;

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  DebertaV2Config sizes_;
  std::shared_ptr<DebertaV2Embeddings> embeddings_;
  std::vector<std::shared_ptr<DebertaV2Layer>> layers_;
  Embedding distances_ = nullptr;
  LayerNorm distances_norm_ = nullptr;
  std::shared_ptr<DebertaV2Convolution> convolution_;
};

/// The encoder, and a pooler and a linear classifier on its first token.
class DebertaV2ForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit DebertaV2ForSequenceClassification(const PretrainedConfig& config);
  bool ignores(std::string_view weight) const override { return deberta_->ignores(weight); }

 private:
  at::Tensor classify(const ModelInputs& inputs) override;
  at::Tensor loss(const at::Tensor& logits, const at::Tensor& labels) override;

  Activation pooler_activation_;
  std::shared_ptr<DebertaV2Model> deberta_;
  double pooler_dropout_, classifier_dropout_;
  Linear pooler_ = nullptr, classifier_ = nullptr;
};

DebertaV2Embeddings::DebertaV2Embeddings(const DebertaV2Config& config)
    : dropout_(config.hidden_dropout_prob),
      word_embeddings_(embedding("word_embeddings", config.vocab_size, config.embedding_size, config.pad_token_id)) {
  if (config.position_biased_input) {
    position_embeddings_ = embedding("position_embeddings", config.max_position_embeddings, config.embedding_size);
  }
  if (config.type_vocab_size > 0) {
    token_type_embeddings_ = embedding("token_type_embeddings", config.type_vocab_size, config.embedding_size);
  }
  if (config.embedding_size != config.hidden_size) {
    projection_ = linear("embed_proj", config.embedding_size, config.hidden_size, /*with_bias=*/false);
  }
  norm_ = layer_norm("LayerNorm", config.hidden_size, config.layer_norm_eps);
}

at::Tensor DebertaV2Embeddings::forward(const ModelInputs& inputs) {
  auto x = word_embeddings_(inputs.input_ids);
  if (position_embeddings_) x = x + position_embeddings_(positions_of(inputs));
  if (token_type_embeddings_) {
    x = x + token_type_embeddings_(inputs.token_type_ids.defined() ? inputs.token_type_ids
                                                                   : at::zeros_like(inputs.input_ids));
  }
  if (projection_) x = projection_(x);
  x = norm_(x);
  if (inputs.attention_mask.defined()) x = x * inputs.attention_mask.unsqueeze(2).to(x.scalar_type());
  return dropout(x, dropout_);
}

DebertaV2Layer::DebertaV2Layer(const DebertaV2Config& config)
    : dropout_(config.hidden_dropout_prob),
      attention_(block("attention.self", std::make_shared<DebertaV2Attention>(config))),
      attention_output_(linear("attention.output.dense", config.hidden_size, config.hidden_size)),
      attention_norm_(layer_norm("attention.output.LayerNorm", config.hidden_size, config.layer_norm_eps)) {
  add_feed_forward(config);
}

at::Tensor DebertaV2Layer::forward(at::Tensor x, const DebertaV2Context& context, const at::Tensor& distances) {
  auto attended = attention_->forward(x, context, distances);
  x = attention_norm_(dropout(attention_output_(attended), dropout_) + x);
  return feed_forward(x);
}

class DebertaV2Convolution::KernelImpl : public Layer {
 public:
  explicit KernelImpl(const DebertaV2Config& config)
      : groups_(config.conv_groups),
        weight_(register_parameter("weight", at::empty({config.hidden_size, config.hidden_size / config.conv_groups,
                                                        config.conv_kernel_size}))),
        bias_(register_parameter("bias", at::empty({config.hidden_size}))) {}

  at::Tensor forward(const at::Tensor& x) const {
    auto padding = (weight_.size(2) - 1) / 2;
    return at::conv1d(x, weight_, bias_, /*stride=*/1, padding, /*dilation=*/1, groups_);
  }

 private:
  int64_t groups_;
  at::Tensor weight_, bias_;
};

DebertaV2Convolution::DebertaV2Convolution(const DebertaV2Config& config)
    : dropout_(config.hidden_dropout_prob),
      activation_(activation(config.conv_act)),
      kernel_(block("conv", std::make_shared<KernelImpl>(config))),
      norm_(layer_norm("LayerNorm", config.hidden_size, config.layer_norm_eps)) {}

at::Tensor DebertaV2Convolution::forward(const at::Tensor& x, const at::Tensor& residual,
                                         const at::Tensor& attention_mask) {
  auto y = kernel_->forward(x.permute({0, 2, 1}).contiguous()).permute({0, 2, 1}).contiguous();
  if (attention_mask.defined()) y = y.masked_fill(attention_mask.eq(0).unsqueeze(-1), 0);
  y = norm_(residual + activation_(dropout(y, dropout_)));
  return attention_mask.defined() ? y * attention_mask.unsqueeze(2).to(y.scalar_type()) : y;
}

DebertaV2Model::DebertaV2Model(const PretrainedConfig& config)
    : BaseModel("DebertaV2Model", config, "deberta"),
      sizes_(config),
      embeddings_(block("embeddings", std::make_shared<DebertaV2Embeddings>(sizes_))) {
  for (int64_t i = 0; i < sizes_.num_hidden_layers; ++i) {
    layers_.push_back(block("encoder.layer." + std::to_string(i), std::make_shared<DebertaV2Layer>(sizes_)));
  }
  if (sizes_.relative_attention) {
    distances_ = embedding("encoder.rel_embeddings", 2 * sizes_.distance_span(), sizes_.hidden_size);
  }
  if (sizes_.normalize_distances) {
    distances_norm_ = layer_norm("encoder.LayerNorm", sizes_.hidden_size, sizes_.layer_norm_eps);
  }
  if (sizes_.conv_kernel_size > 0) {
    convolution_ = block("encoder.conv", std::make_shared<DebertaV2Convolution>(sizes_));
  }
}

bool DebertaV2Model::ignores(std::string_view weight) const {
  return weight.find("position_embeddings") != weight.npos;
}

BaseModelOutput DebertaV2Model::encode(const ModelInputs& inputs) {
  check_inputs(inputs, sizes_.vocab_size, sizes_.position_biased_input ? sizes_.max_position_embeddings : 0);
  auto embedded = embeddings_->forward(inputs);
  DebertaV2Context context;
  if (inputs.attention_mask.defined()) {
    auto visible = inputs.attention_mask.to(at::kBool).unsqueeze(1);
    context.mask = visible.unsqueeze(2) & visible.unsqueeze(3);
  }
  at::Tensor distances;
  if (sizes_.relative_attention) {
    context.positions =
        relative_positions(embedded.size(1), sizes_.position_buckets, sizes_.max_relative_positions, embedded.device());
    distances = distances_norm_ ? distances_norm_(distances_->weight) : distances_->weight;
  }
  auto x = embedded;
  for (const auto& layer : layers_) {
    x = checkpointed(x, distances, [&layer = *layer, context](const at::Tensor& x, const at::Tensor& distances) {
      return layer.forward(x, context, distances);
    });
    if (convolution_ && layer == layers_.front()) x = convolution_->forward(embedded, x, inputs.attention_mask);
  }
  return {.last_hidden_state = x};
}

DebertaV2ForSequenceClassification::DebertaV2ForSequenceClassification(const PretrainedConfig& config)
    : SequenceClassificationModel("DebertaV2ForSequenceClassification", config, "deberta"),
      pooler_activation_(activation(config.get<std::string>("pooler_hidden_act", "gelu"))),
      deberta_(block("deberta", std::make_shared<DebertaV2Model>(config))),
      pooler_dropout_(config.get("pooler_dropout", 0.0)),
      classifier_dropout_(config.get("cls_dropout", deberta_->sizes().hidden_dropout_prob)) {
  auto hidden_size = deberta_->sizes().hidden_size;
  if (auto pooler_size = config.get("pooler_hidden_size", hidden_size); pooler_size != hidden_size) {
    config.refuse({{"pooler_hidden_size", pooler_size}, {"hidden_size", hidden_size}}, "they must be equal");
  }
  pooler_ = linear("pooler.dense", hidden_size, hidden_size);
  classifier_ = linear("classifier", hidden_size, config.num_labels());
}

at::Tensor DebertaV2ForSequenceClassification::classify(const ModelInputs& inputs) {
  auto first = dropout(deberta_->forward(inputs).last_hidden_state.select(1, 0), pooler_dropout_);
  auto logits = classifier_(dropout(pooler_activation_(pooler_(first)), classifier_dropout_));
  // For regression, Python flattens the logits too.
  bool numbers = inputs.labels.defined() && config().num_labels() == 1 && !config().find<std::string>("problem_type");
  if (!numbers) return logits;
  if (!at::isFloatingType(inputs.labels.scalar_type())) {
    accelerate::fail("the labels are of type ", inputs.labels.scalar_type(),
                     ", but a model with one label predicts a number; give labels of type Float, or more num_labels");
  }
  return logits.view({-1}).to(inputs.labels.scalar_type());
}

/// The usual loss if problem_type is set. Without it, labels may be class probabilities, and the loss is computed in
/// float32.
at::Tensor DebertaV2ForSequenceClassification::loss(const at::Tensor& logits, const at::Tensor& labels) {
  if (config().find<std::string>("problem_type")) return SequenceClassificationModel::loss(logits, labels);
  bool one_number = config().num_labels() == 1;
  if (!one_number && labels.dim() > 1 && labels.size(-1) > 1) {
    return -(at::log_softmax(logits, -1) * labels).sum(-1).mean();
  }
  auto undecided = config();  // which the next batch may read in another way
  return sequence_classification_loss(one_number ? logits : logits.to(at::kFloat), labels, undecided);
}

}  // namespace

namespace models {

Architecture deberta_v2() {
  return {.model_type = "deberta-v2",
          .base = make<DebertaV2Model>(),
          .sequence_classification = make<DebertaV2ForSequenceClassification>()};
}

}  // namespace models

}  // namespace transformers
