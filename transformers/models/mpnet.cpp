// MPNet (Song et al., 2020): BERT's layers with learnt biases for the distance of two tokens.

#include <cmath>

#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>

#include "transformers/attention.h"
#include "transformers/heads.h"
#include "transformers/models/bert.h"
#include "transformers/models/families.h"
#include "transformers/positions.h"

namespace transformers {

namespace {

/// The sum of token and position embeddings.
class MPNetEmbeddings : public Block {
 public:
  explicit MPNetEmbeddings(const BertConfig& config);
  at::Tensor forward(const ModelInputs& inputs);

 private:
  double dropout_;
  Embedding word_embeddings_, position_embeddings_;
  LayerNorm norm_;
};

/// BERT's layer, with a position bias added to the attention scores of each head.
class MPNetLayer : public BertFeedForward {
 public:
  explicit MPNetLayer(const BertConfig& config);

  /// `position_bias` is [batch, heads, length, length]; `mask` is added to the scores, if defined.
  at::Tensor forward(at::Tensor x, const at::Tensor& mask, const at::Tensor& position_bias);

 private:
  BertConfig config_;
  Linear query_, key_, value_, attention_output_;
  LayerNorm attention_norm_;
};

/// The encoder, with an optional pooler.
class MPNetModel : public BaseModel {
 public:
  explicit MPNetModel(const PretrainedConfig& config, bool with_pooler = true);

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  BertConfig sizes_;
  std::shared_ptr<MPNetEmbeddings> embeddings_;
  std::vector<std::shared_ptr<MPNetLayer>> layers_;
  Embedding relative_attention_bias_ = nullptr;
  Linear pooler_ = nullptr;
};

/// The encoder, and a classifier with one hidden layer on its first token.
class MPNetForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit MPNetForSequenceClassification(const PretrainedConfig& config);

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  std::shared_ptr<MPNetModel> mpnet_;
  std::shared_ptr<ClassificationHead> classifier_;
};

constexpr int64_t kPadding = 1;      // the id and the position of padding, whatever the configuration says
constexpr int64_t kNumBuckets = 32;  // of distances, whatever the configuration says; a longer table has rows of no use

BertConfig mpnet_sizes(const PretrainedConfig& config) {
  auto sizes = BertConfig::from(config, {.vocab_size = 30527});
  if (sizes.vocab_size <= kPadding) config.refuse({{"vocab_size", sizes.vocab_size}}, "it must be at least 2");
  if (sizes.max_position_embeddings <= kPadding + 1) {
    config.refuse({{"max_position_embeddings", sizes.max_position_embeddings}}, "it must be at least 3");
  }
  return sizes;
}

int64_t num_buckets(const PretrainedConfig& config) {
  auto buckets = config.get("relative_attention_num_buckets", kNumBuckets);
  if (buckets < kNumBuckets) config.refuse({{"relative_attention_num_buckets", buckets}}, "it must be at least 32");
  return buckets;
}

std::shared_ptr<ClassificationHead> mpnet_head(const PretrainedConfig& config, const BertConfig& sizes) {
  return std::make_shared<ClassificationHead>(ClassificationHeadOptions{
      .hidden_size = sizes.hidden_size, .num_labels = config.num_labels(), .dropout = sizes.hidden_dropout_prob});
}

MPNetEmbeddings::MPNetEmbeddings(const BertConfig& config)
    : dropout_(config.hidden_dropout_prob),
      word_embeddings_(embedding("word_embeddings", config.vocab_size, config.hidden_size, kPadding)),
      position_embeddings_(
          embedding("position_embeddings", config.max_position_embeddings, config.hidden_size, kPadding)),
      norm_(layer_norm("LayerNorm", config.hidden_size, config.layer_norm_eps)) {}

at::Tensor MPNetEmbeddings::forward(const ModelInputs& inputs) {
  auto words = word_embeddings_(inputs.input_ids);
  auto x = words + position_embeddings_(positions_after_padding(inputs, kPadding));
  return dropout(norm_(x), dropout_);
}

MPNetLayer::MPNetLayer(const BertConfig& config)
    : config_(config),
      query_(linear("attention.attn.q", config.hidden_size, config.hidden_size)),
      key_(linear("attention.attn.k", config.hidden_size, config.hidden_size)),
      value_(linear("attention.attn.v", config.hidden_size, config.hidden_size)),
      attention_output_(linear("attention.attn.o", config.hidden_size, config.hidden_size)),
      attention_norm_(layer_norm("attention.LayerNorm", config.hidden_size, config.layer_norm_eps)) {
  add_feed_forward(config);
}

at::Tensor MPNetLayer::forward(at::Tensor x, const at::Tensor& mask, const at::Tensor& position_bias) {
  auto head_size = config_.head_size();
  auto query = split_heads(query_(x), head_size);
  auto key = split_heads(key_(x), head_size);
  auto value = split_heads(value_(x), head_size);
  auto scores = at::matmul(query, key.transpose(-1, -2)) / std::sqrt(static_cast<double>(head_size));
  scores = scores + position_bias;
  if (mask.defined()) scores = scores + mask;
  auto weights = dropout(at::softmax(scores, -1), config_.attention_probs_dropout_prob);
  auto context = merge_heads(at::matmul(weights, value));
  x = attention_norm_(dropout(attention_output_(context), config_.hidden_dropout_prob) + x);
  return feed_forward(x);
}

MPNetModel::MPNetModel(const PretrainedConfig& config, bool with_pooler)
    : BaseModel("MPNetModel", config, "mpnet"),
      sizes_(mpnet_sizes(config)),
      embeddings_(block("embeddings", std::make_shared<MPNetEmbeddings>(sizes_))) {
  for (int64_t i = 0; i < sizes_.num_hidden_layers; ++i) {
    layers_.push_back(block("encoder.layer." + std::to_string(i), std::make_shared<MPNetLayer>(sizes_)));
  }
  relative_attention_bias_ =
      embedding("encoder.relative_attention_bias", num_buckets(config), sizes_.num_attention_heads);
  if (with_pooler) pooler_ = linear("pooler.dense", sizes_.hidden_size, sizes_.hidden_size);
}

BaseModelOutput MPNetModel::encode(const ModelInputs& inputs) {
  check_inputs(inputs, sizes_.vocab_size, sizes_.max_position_embeddings - kPadding - 1);
  auto x = embeddings_->forward(inputs);
  auto mask = added_mask(bidirectional_mask(inputs.attention_mask, x), x.scalar_type());
  auto bias = relative_attention_bias_(distance_buckets(x.size(1), x.device())).permute({2, 0, 1}).unsqueeze(0);
  bias = bias.expand({x.size(0), -1, -1, -1}).contiguous();
  for (const auto& layer : layers_) {
    x = checkpointed(x, bias, [&layer = *layer, mask](const at::Tensor& x, const at::Tensor& bias) {
      return layer.forward(x, mask, bias);
    });
  }
  return {.last_hidden_state = x, .pooler_output = pooler_ ? at::tanh(pooler_(x.select(1, 0))) : at::Tensor()};
}

MPNetForSequenceClassification::MPNetForSequenceClassification(const PretrainedConfig& config)
    : SequenceClassificationModel("MPNetForSequenceClassification", config, "mpnet"),
      mpnet_(block("mpnet", std::make_shared<MPNetModel>(config, /*with_pooler=*/false))),
      classifier_(block("classifier", mpnet_head(config, mpnet_sizes(config)))) {}

at::Tensor MPNetForSequenceClassification::classify(const ModelInputs& inputs) {
  return classifier_->forward(mpnet_->forward(inputs).last_hidden_state);
}

}  // namespace

namespace models {

Architecture mpnet() {
  return {.model_type = "mpnet",
          .base = make<MPNetModel>(),
          .sequence_classification = make<MPNetForSequenceClassification>()};
}

}  // namespace models

}  // namespace transformers
