#pragma once

// BERT (Devlin et al., 2018), and the parts that models derived from it use. MiniLM is a small BERT.

#include <optional>
#include <string>
#include <vector>

#include "transformers/activations.h"
#include "transformers/pretrained_model.h"

namespace transformers {

/// The hyperparameters of BERT and similar models. The values here are the defaults for keys that config.json does not
/// have.
struct BertConfig {
  int64_t vocab_size = 30522, hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12;
  int64_t intermediate_size = 3072, max_position_embeddings = 512, type_vocab_size = 2, pad_token_id = 0;
  int64_t embedding_size = 0;  // 0: hidden_size, and the key is not read
  double hidden_dropout_prob = 0.1, attention_probs_dropout_prob = 0.1, layer_norm_eps = 1e-12;
  std::string hidden_act = "gelu";

  /// Reads `config`, with `defaults` for missing keys. Throws Error for values that contradict each other.
  static BertConfig from(const PretrainedConfig& config, const BertConfig& defaults);

  /// The same with the defaults of BERT.
  static BertConfig from(const PretrainedConfig& config);

  int64_t head_size() const { return hidden_size / num_attention_heads; }
};

/// The sum of token, segment and position embeddings.
class BertEmbeddings : public Block {
 public:
  /// `position_padding` is the row of the position table for padding, in models that have one.
  explicit BertEmbeddings(const BertConfig& config, std::optional<int64_t> position_padding = std::nullopt);
  at::Tensor forward(const ModelInputs& inputs, const at::Tensor& position_ids);

 private:
  double dropout_;
  Embedding word_embeddings_, position_embeddings_ = nullptr, token_type_embeddings_ = nullptr;
  LayerNorm norm_ = nullptr;
};

/// The second half of a layer: a feed-forward network with residual connection and layer norm.
class BertFeedForward : public Block {
 protected:
  /// Call it after registering the attention layers, because these come first in checkpoints.
  void add_feed_forward(const BertConfig& config);
  at::Tensor feed_forward(const at::Tensor& x);

 private:
  double dropout_ = 0;
  Activation activation_ = nullptr;
  Linear intermediate_ = nullptr, output_ = nullptr;
  LayerNorm output_norm_ = nullptr;
};

/// Attention with residual connection and layer norm, then the feed-forward network.
class BertLayer : public BertFeedForward {
 public:
  explicit BertLayer(const BertConfig& config);
  at::Tensor forward(at::Tensor x, const at::Tensor& mask);

 private:
  BertConfig config_;
  Linear query_, key_, value_, attention_output_;
  LayerNorm attention_norm_;
};

/// How a model derived from BERT differs from it.
struct BertVariant {
  std::string class_name = "BertModel";
  std::string base_model_prefix = "bert";
  bool positions_after_padding = false;  // positions start at pad_token_id + 1; padding has pad_token_id
  bool with_pooler = true;
};

/// The encoder, with a pooler.
class BertModel : public BaseModel {
 public:
  explicit BertModel(const PretrainedConfig& config) : BertModel(config, BertConfig::from(config), {}) {}

 protected:
  BertModel(const PretrainedConfig& config, const BertConfig& sizes, const BertVariant& variant);

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  BertConfig sizes_;
  bool positions_after_padding_;
  std::shared_ptr<BertEmbeddings> embeddings_;
  Linear projection_ = nullptr;  // only if embedding_size differs from hidden_size
  std::vector<std::shared_ptr<BertLayer>> layers_;
  Linear pooler_ = nullptr;
};

/// The encoder, and a linear classifier on its pooler.
class BertForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit BertForSequenceClassification(const PretrainedConfig& config);

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  double classifier_dropout_;
  std::shared_ptr<BertModel> bert_;
  Linear classifier_;
};

}  // namespace transformers
