#pragma once

// Disentangled attention (He et al., 2020): the score of two tokens is the sum of content-to-content,
// content-to-position and position-to-content terms.

#include "transformers/models/bert.h"

namespace transformers {

/// The hyperparameters of BERT, and those of DeBERTa's own parts.
struct DebertaV2Config : BertConfig {
  int64_t attention_head_size;  // of one head
  bool relative_attention, share_att_key, position_biased_input;
  bool content_to_position, position_to_content;  // the terms that pos_att_type names
  int64_t position_buckets;                       // -1: one row for each distance
  int64_t max_relative_positions;
  int64_t conv_kernel_size, conv_groups;  // a kernel size of 0: no convolution
  std::string conv_act;
  bool normalize_distances;  // layer norm on the table of relative positions

  explicit DebertaV2Config(const PretrainedConfig& config);

  /// The number of relative positions per direction in the table.
  int64_t distance_span() const { return position_buckets > 0 ? position_buckets : max_relative_positions; }
};

/// The further inputs of the layers: attention mask and relative positions.
struct DebertaV2Context {
  at::Tensor mask;       // [batch, 1, length, length]; undefined: nothing is masked
  at::Tensor positions;  // [length, length]: relative positions; undefined without relative attention
};

class DebertaV2Attention : public Block {
 public:
  explicit DebertaV2Attention(const DebertaV2Config& config);

  /// `distances` is the embedding table of relative positions.
  at::Tensor forward(const at::Tensor& x, const DebertaV2Context& context, at::Tensor distances);

 private:
  at::Tensor heads(const at::Tensor& projected) const;
  at::Tensor position_scores(const at::Tensor& query, const at::Tensor& key, const at::Tensor& positions,
                             const at::Tensor& distances, const at::Tensor& scale);

  DebertaV2Config config_;
  Linear query_ = nullptr, key_ = nullptr, value_ = nullptr;
  Linear position_key_ = nullptr, position_query_ = nullptr;
};

}  // namespace transformers
