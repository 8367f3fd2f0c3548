#pragma once

// Disentangled attention (He et al., 2020): besides the contents of two tokens, the content of each meets the distance
// to the other.

#include "transformers/models/bert.h"

namespace transformers {

/// BERT's sizes, and those of DeBERTa's own parts.
struct DebertaV2Config : BertConfig {
  int64_t attention_head_size;  // of one head
  bool relative_attention, share_att_key, position_biased_input;
  bool content_to_position, position_to_content;  // the terms that pos_att_type names
  int64_t position_buckets;                       // -1: one row for each distance
  int64_t max_relative_positions;
  int64_t conv_kernel_size, conv_groups;  // a kernel size of 0: no convolution
  std::string conv_act;
  bool normalize_distances;  // the table of distances goes through a norm

  explicit DebertaV2Config(const PretrainedConfig& config);

  /// How many distances to each side have a row of their own.
  int64_t distance_span() const { return position_buckets > 0 ? position_buckets : max_relative_positions; }
};

/// What the layers need besides x: which positions see each other, and how far apart they are.
struct DebertaV2Context {
  at::Tensor mask;       // [batch, 1, length, length]; undefined: all see all
  at::Tensor positions;  // [length, length]: relative positions; undefined without relative attention
};

class DebertaV2Attention : public Block {
 public:
  explicit DebertaV2Attention(const DebertaV2Config& config);

  /// `distances` is the table of what each distance means.
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
