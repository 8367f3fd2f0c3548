#include "transformers/config_rules.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "accelerate/base/text.h"
#include "transformers/activations.h"
#include "transformers/dtype_names.h"

namespace transformers {

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr double kAboveZero = std::numeric_limits<double>::min();

// Far above the sizes of any model: a larger number means a damaged file, and would exhaust memory before anything
// fails.
constexpr double kMaxSize = 1e8, kMaxLayers = 10'000;
constexpr double kMaxFactor = 1e10;  // what is drawn with it still is a float

/// Keys with numbers from `least` to `most`.
struct NumberRule {
  double least, most;
  std::vector<std::string_view> keys;

  bool allows(double number) const { return number >= least && number <= most; }
};

const std::vector<NumberRule>& number_rules() {
  static const std::vector<NumberRule> rules = {
      // Sizes and counts.
      {1,
       kMaxSize,
       {"attention_head_size", "dim", "embedding_size", "head_dim", "hidden_dim", "hidden_size", "intermediate_size",
        "n_embd", "n_inner", "pooler_hidden_size", "vocab_size"}},
      {1,
       kMaxSize,
       {"conv_groups", "global_attn_every_n_layers", "max_position_embeddings", "n_head", "n_heads", "n_positions",
        "num_attention_heads", "num_key_value_heads", "num_labels", "original_max_position_embeddings",
        "relative_attention_num_buckets"}},
      {0, kMaxSize, {"conv_kernel_size", "type_vocab_size"}},
      {-1, kMaxSize, {"max_relative_positions", "position_buckets"}},  // -1: none
      {0, kMaxLayers, {"inner_group_num", "n_layer", "n_layers", "num_hidden_layers"}},
      {1, kMaxLayers, {"num_hidden_groups"}},
      {0, kNoLimit, {"local_attention", "max_window_layers", "sliding_window"}},
      // Probabilities.
      {0,
       1,
       {"attention_dropout", "attention_probs_dropout_prob", "attn_pdrop", "classifier_dropout",
        "classifier_dropout_prob", "cls_dropout", "dropout", "embd_pdrop", "embedding_dropout", "hidden_dropout_prob",
        "mlp_dropout", "pooler_dropout", "resid_pdrop", "seq_classif_dropout"}},
      // Factors.
      {0, kNoLimit, {"layer_norm_eps", "layer_norm_epsilon", "norm_eps", "rms_norm_eps"}},
      {0, kMaxFactor, {"initializer_range"}},
      {kAboveZero,
       kNoLimit,
       {"factor", "global_rope_theta", "high_freq_factor", "local_rope_theta", "long_factor", "low_freq_factor",
        "rope_theta", "short_factor"}},
      {0.1, kMaxFactor, {"initializer_cutoff_factor"}},  // a number beyond it is drawn again: the less, the more often
  };
  return rules;
}

/// Keys whose texts are one of `names`.
struct NameRule {
  std::vector<std::string> names;
  std::vector<std::string_view> keys;
};

const std::vector<NameRule>& name_rules() {
  static const std::vector<NameRule> rules = {
      {activation_names(),
       {"activation", "activation_function", "classifier_activation", "conv_act", "hidden_act", "hidden_activation",
        "pooler_hidden_act"}},
      {type_names(), {"dtype", "torch_dtype"}},
      {{"cls", "mean"}, {"classifier_pooling"}},
      {{"regression", "single_label_classification", "multi_label_classification"}, {"problem_type"}},
  };
  return rules;
}

template <class Rule>
const Rule* rule_for(std::string_view key, const std::vector<Rule>& rules) {
  auto names_it = [&](const Rule& rule) { return std::ranges::find(rule.keys, key) != rule.keys.end(); };
  auto found = std::ranges::find_if(rules, names_it);
  return found == rules.end() ? nullptr : &*found;
}

std::string words_for(const NumberRule& rule, double number) {
  std::ostringstream words;
  words.precision(std::numeric_limits<double>::digits10);
  if (rule.least == kAboveZero) {
    words << "more than 0";
  } else if (rule.most == 1) {
    words << "from 0 to 1";
  } else if (number < rule.least) {
    words << "at least " << rule.least;
  } else {
    words << "at most " << rule.most;
  }
  return words.str();
}

}  // namespace

std::string refusal(std::string_view key, const nlohmann::json& value) {
  auto name = key.substr(key.rfind('.') + 1);  // npos + 1 is 0
  if (const auto* rule = rule_for(name, number_rules())) {
    for (const auto& number : value.is_array() ? value : nlohmann::json::array({value})) {
      if (number.is_number() && !rule->allows(number)) return words_for(*rule, number);
    }
  }
  if (const auto* rule = rule_for(name, name_rules()); rule && value.is_string()) {
    if (std::ranges::find(rule->names, value.get<std::string>()) == rule->names.end()) {
      return accelerate::listed(rule->names, " or ");
    }
  }
  return "";
}

}  // namespace transformers
