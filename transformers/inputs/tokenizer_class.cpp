#include "transformers/inputs/tokenizer_config.h"

#include <map>
#include <set>

namespace transformers::inputs {

namespace {

using Names = std::vector<std::string>;

const Names kTypesSecond{"input_ids", "token_type_ids", "attention_mask"};
const Names kTypesLast{"input_ids", "attention_mask", "token_type_ids"};
const Names kNoTypes{"input_ids", "attention_mask"};

/// Five tokens as BERT writes them.
SpecialTokens tokens_in_brackets() {
  return {
      .pad_token = "[PAD]", .unk_token = "[UNK]", .cls_token = "[CLS]", .sep_token = "[SEP]", .mask_token = "[MASK]"};
}

/// RoBERTa's: a text begins with the token that classifies it and ends with the one that separates.
SpecialTokens tokens_in_angles(const char* unk_token = "<unk>") {
  return {.pad_token = "<pad>",
          .unk_token = unk_token,
          .cls_token = "<s>",
          .sep_token = "</s>",
          .mask_token = "<mask>",
          .bos_token = "<s>",
          .eos_token = "</s>"};
}

SpecialTokens with_ends(SpecialTokens tokens) {
  tokens.bos_token = tokens.cls_token;
  tokens.eos_token = tokens.sep_token;
  return tokens;
}

SpecialTokens albert_tokens() {
  auto tokens = with_ends(tokens_in_brackets());
  tokens.pad_token = "<pad>";
  tokens.unk_token = "<unk>";
  return tokens;
}

/// Classes by their names without "Tokenizer" and "TokenizerFast".
const std::map<std::string, TokenizerClass>& known_classes() {
  constexpr const char* end = "<|endoftext|>";
  static const std::map<std::string, TokenizerClass> classes{
      {"Albert", {kNoTypes, albert_tokens()}},
      {"Bert", {kTypesSecond, tokens_in_brackets()}},
      {"Camembert", {kNoTypes, tokens_in_angles()}},
      {"DPRQuestionEncoder", {kTypesSecond, tokens_in_brackets()}},
      {"Deberta", {kTypesLast, with_ends(tokens_in_brackets())}},
      {"DebertaV2", {kTypesLast, with_ends(tokens_in_brackets())}},
      {"DistilBert", {kNoTypes, tokens_in_brackets()}},
      {"Electra", {kTypesSecond, tokens_in_brackets()}},
      {"GPT2",
       {.model_input_names = kNoTypes,
        .special_tokens = {.unk_token = end, .bos_token = end, .eos_token = end},
        .without_padding = true}},
      {"Llama",
       {kNoTypes, {.unk_token = "<unk>", .bos_token = "<s>", .eos_token = "</s>"}, tokenizers::Direction::Left}},
      {"Lxmert", {kTypesSecond, tokens_in_brackets()}},
      {"MPNet", {kNoTypes, tokens_in_angles("[UNK]")}},
      {"MarkupLM", {kTypesSecond, tokens_in_angles()}},
      {"MobileBert", {kTypesSecond, tokens_in_brackets()}},
      {"Qwen2", {kNoTypes, {.pad_token = end, .unk_token = end, .eos_token = end}}},
      {"Roberta", {kNoTypes, tokens_in_angles()}},
      {"XLMRoberta", {kNoTypes, tokens_in_angles()}},
  };
  return classes;
}

/// The default class of a model type, by its name in the table above; empty: none.
std::string class_of_model(const std::string& model_type) {
  static const std::map<std::string, std::string> classes{
      {"albert", "Albert"},        {"bert", "Bert"},
      {"camembert", "Camembert"},  {"deberta", "Deberta"},
      {"deberta-v2", "DebertaV2"}, {"distilbert", "Bert"},
      {"electra", "Bert"},         {"gpt2", "GPT2"},
      {"mobilebert", "Bert"},      {"mpnet", "MPNet"},
      {"qwen2", "Qwen2"},          {"qwen3", "Qwen2"},
      {"roberta", "Roberta"},      {"xlm-roberta", "XLMRoberta"},
  };
  const auto found = classes.find(model_type);
  return found == classes.end() ? "" : found->second;
}

}  // namespace

std::string tokenizer_class_name(const std::string& model_type, const std::string& declared) {
  // Many files of these models name a wrong class; Python ignores it too.
  const bool ignores_declared = model_type == "mistral" || model_type == "modernbert" || model_type == "qwen2";
  return declared.empty() || ignores_declared ? class_of_model(model_type)
                                              : declared.substr(0, declared.find("Tokenizer"));
}

TokenizerClass find_tokenizer_class(const std::string& name) {
  const auto found = known_classes().find(name);
  return found == known_classes().end() ? TokenizerClass() : found->second;
}

bool splits_like_bert(const std::string& name) {
  static const std::set<std::string> classes{
      "Bert", "DPRContextEncoder", "DPRQuestionEncoder", "DPRReader", "DistilBert", "Electra", "Lxmert", "MobileBert"};
  return classes.contains(name);
}

}  // namespace transformers::inputs
