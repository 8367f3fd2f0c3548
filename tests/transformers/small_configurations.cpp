#include "tests/transformers/small_configurations.h"

#include "transformers/architectures.h"

namespace transformers {

namespace {

using nlohmann::json;

json like_bert(const char* model_type) {
  return {{"model_type", model_type},
          {"vocab_size", 97},
          {"hidden_size", 36},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 3},
          {"intermediate_size", 50},
          {"max_position_embeddings", 60},
          {"type_vocab_size", 2},
          {"pad_token_id", 1},
          {"num_labels", 2},
          {"hidden_act", "gelu"},
          {"hidden_dropout_prob", 0.1},
          {"attention_probs_dropout_prob", 0.1},
          {"classifier_dropout", 0.1},
          {"layer_norm_eps", 1e-12},
          {"initializer_range", 0.02}};
}

json like_llama(const char* model_type) {
  return {{"model_type", model_type},
          {"vocab_size", 97},
          {"hidden_size", 36},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 6},
          {"num_key_value_heads", 2},
          {"head_dim", 6},
          {"intermediate_size", 50},
          {"max_position_embeddings", 60},
          {"pad_token_id", 0},
          {"num_labels", 2},
          {"hidden_act", "silu"},
          {"attention_dropout", 0.1},
          {"rms_norm_eps", 1e-6},
          {"initializer_range", 0.02},
          {"sliding_window", 8},
          {"use_sliding_window", true},
          {"max_window_layers", 1},
          {"rope_theta", 10000.0},
          {"tie_word_embeddings", false},
          {"dtype", "float32"},
          {"problem_type", "single_label_classification"}};
}

json with(json config, const json& more) {
  config.update(more);
  return config;
}

json rotated(const char* model_type, json rotations) {
  rotations["rope_theta"] = 10000.0;
  return with(like_llama(model_type), {{"rope_parameters", rotations}});
}

// Taken before a test registers one of its own.
const std::vector<std::string> kArchitectures = architecture_names();

}  // namespace

const std::vector<std::string>& built_in_architectures() { return kArchitectures; }

std::vector<json> small_configurations() {
  json deberta = {{"relative_attention", true},
                  {"pos_att_type", {"c2p", "p2c"}},
                  {"position_buckets", 8},
                  {"max_relative_positions", 40},
                  {"norm_rel_ebd", "layer_norm"},
                  {"share_att_key", true},
                  {"position_biased_input", true},
                  {"conv_kernel_size", 3},
                  {"conv_groups", 2},
                  {"conv_act", "tanh"},
                  {"pooler_hidden_size", 36},
                  {"pooler_dropout", 0.1},
                  {"cls_dropout", 0.1},
                  {"pooler_hidden_act", "gelu"},
                  {"attention_head_size", 12},
                  {"embedding_size", 20}};
  json modernbert = {{"local_attention", 8},
                     {"global_attn_every_n_layers", 3},
                     {"norm_eps", 1e-5},
                     {"attention_dropout", 0.1},
                     {"embedding_dropout", 0.1},
                     {"mlp_dropout", 0.1},
                     {"initializer_cutoff_factor", 2.0},
                     {"hidden_activation", "gelu"},
                     {"classifier_activation", "gelu"},
                     {"classifier_pooling", "mean"},
                     {"global_rope_theta", 160000.0},
                     {"local_rope_theta", 10000.0}};
  return {
      with(
          like_bert("albert"),
          {{"embedding_size", 20}, {"num_hidden_groups", 1}, {"inner_group_num", 1}, {"classifier_dropout_prob", 0.1}}),
      like_bert("bert"),
      like_bert("camembert"),
      with(like_bert("deberta-v2"), deberta),
      {{"model_type", "distilbert"},
       {"vocab_size", 97},
       {"dim", 36},
       {"n_layers", 2},
       {"n_heads", 3},
       {"hidden_dim", 50},
       {"max_position_embeddings", 60},
       {"pad_token_id", 0},
       {"dropout", 0.1},
       {"attention_dropout", 0.1},
       {"seq_classif_dropout", 0.1},
       {"activation", "gelu"},
       {"sinusoidal_pos_embds", true},
       {"initializer_range", 0.02}},
      with(like_bert("electra"), {{"embedding_size", 20}}),
      {{"model_type", "gpt2"},
       {"vocab_size", 97},
       {"n_embd", 36},
       {"n_layer", 2},
       {"n_head", 3},
       {"n_inner", 50},
       {"n_positions", 60},
       {"pad_token_id", 0},
       {"resid_pdrop", 0.1},
       {"embd_pdrop", 0.1},
       {"attn_pdrop", 0.1},
       {"layer_norm_epsilon", 1e-5},
       {"initializer_range", 0.02},
       {"activation_function", "gelu_new"},
       {"scale_attn_weights", true}},
      rotated("llama", {{"rope_type", "llama3"},
                        {"factor", 8.0},
                        {"low_freq_factor", 1.0},
                        {"high_freq_factor", 4.0},
                        {"original_max_position_embeddings", 16}}),
      rotated("llama", {{"rope_type", "linear"}, {"factor", 2.0}}),
      rotated("mistral", {{"rope_type", "dynamic"}, {"factor", 2.0}}),
      with(like_bert("modernbert"), modernbert),
      with(like_bert("mpnet"), {{"relative_attention_num_buckets", 32}}),
      rotated("qwen2", {{"rope_type", "yarn"},
                        {"factor", 4.0},
                        {"beta_fast", 32.0},
                        {"beta_slow", 1.0},
                        {"mscale", 1.0},
                        {"mscale_all_dim", 1.0},
                        {"attention_factor", 1.0},
                        {"truncate", true},
                        {"original_max_position_embeddings", 16}}),
      rotated("qwen3", {{"rope_type", "longrope"},
                        {"factor", 4.0},
                        {"short_factor", {1.0, 1.5, 2.0}},
                        {"long_factor", {1.0, 2.5, 3.0}},
                        {"original_max_position_embeddings", 16}}),
      like_bert("roberta"),
      like_bert("xlm-roberta")};
}

}  // namespace transformers
