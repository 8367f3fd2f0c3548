#pragma once

// BERT (Devlin et al., 2018), and what its descendants take from it. MiniLM is a small BERT.

#include <optional>
#include <vector>

#include "transformers/activations.h"
#include "transformers/pretrained_model.h"

namespace transformers {

struct BertConfig {
  int64_t vocab_size, hidden_size, num_hidden_layers, num_attention_heads, intermediate_size;
  int64_t max_position_embeddings, type_vocab_size, pad_token_id;
  double hidden_dropout_prob, attention_probs_dropout_prob, classifier_dropout, layer_norm_eps;
  Activation hidden_act;

  explicit BertConfig(const PretrainedConfig& config);
};

/// Words, segments and positions, added up.
class BertEmbeddings : public Block {
 public:
  /// `position_padding` is the row of the table of positions that stands for padding, in models that have one.
  explicit BertEmbeddings(const BertConfig& config, std::optional<int64_t> position_padding = std::nullopt);
  at::Tensor forward(const ModelInputs& inputs, const at::Tensor& position_ids);

 private:
  BertConfig config_;
  Embedding word_embeddings_, position_embeddings_, token_type_embeddings_;
  LayerNorm norm_;
};

/// Attention, then a feed-forward network, each followed by the sum with its input and a normalisation.
class BertLayer : public Block {
 public:
  explicit BertLayer(const BertConfig& config);
  at::Tensor forward(at::Tensor x, const at::Tensor& mask);

 private:
  BertConfig config_;
  Linear query_, key_, value_, attention_output_;
  LayerNorm attention_norm_;
  Linear intermediate_, output_;
  LayerNorm output_norm_;
};

class BertModel : public BaseModel {
 public:
  explicit BertModel(const PretrainedConfig& config, bool with_pooler = true);

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  BertConfig sizes_;
  std::shared_ptr<BertEmbeddings> embeddings_;
  std::vector<std::shared_ptr<BertLayer>> layers_;
  Linear pooler_ = nullptr;
};

class BertForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit BertForSequenceClassification(const PretrainedConfig& config);

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  double classifier_dropout_;
  std::shared_ptr<BertModel> bert_;
  Linear classifier_;
};

/// 0, 1, 2, ... for each token, [1, length]: the positions of a model that counts from the start.
at::Tensor counted_positions(const at::Tensor& input_ids);

}  // namespace transformers
