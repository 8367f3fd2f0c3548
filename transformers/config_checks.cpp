#include "transformers/config_checks.h"

namespace transformers {

void check_heads(const PretrainedConfig& config, ConfigValue hidden_size, ConfigValue heads) {
  if (heads.value > 0 && hidden_size.value % heads.value == 0) return;
  config.refuse({hidden_size, heads}, "the hidden size must be a multiple of the number of heads");
}

void check_rotated_heads(const PretrainedConfig& config, int64_t head_dim, int64_t hidden_size, int64_t heads) {
  if (head_dim % 2 == 0) return;
  config.refuse({{"head_dim", head_dim}, {"hidden_size", hidden_size}, {"num_attention_heads", heads}},
                "the features of a head are rotated in pairs, so their number must be even");
}

void check_padding(const PretrainedConfig& config, int64_t pad_token_id, int64_t vocab_size) {
  if (pad_token_id >= -vocab_size && pad_token_id < vocab_size) return;
  config.refuse({{"pad_token_id", pad_token_id}, {"vocab_size", vocab_size}},
                "the padding must be an entry of the vocabulary");
}

}  // namespace transformers
