#pragma once

// What the classes of Python's tokenizers bring along. Files of a checkpoint need not repeat it.

#include <optional>
#include <string>
#include <vector>

#include "transformers/tokenizers/encoding.h"

namespace transformers::inputs {

/// The tokens that have a meaning of their own; a tokenizer need not have all of them.
struct SpecialTokens {
  std::optional<std::string> pad_token = std::nullopt;
  std::optional<std::string> unk_token = std::nullopt;
  std::optional<std::string> cls_token = std::nullopt;
  std::optional<std::string> sep_token = std::nullopt;
  std::optional<std::string> mask_token = std::nullopt;
  std::optional<std::string> bos_token = std::nullopt;
  std::optional<std::string> eos_token = std::nullopt;
};

/// The defaults of a class.
struct TokenizerClass {
  std::vector<std::string> model_input_names = {"input_ids", "attention_mask"};
  SpecialTokens special_tokens = {};
  tokenizers::Direction padding_side = tokenizers::Direction::Right;
  bool without_padding = false;  // there is no pad_token, also where tokenizer.json asks for padding
};

/// The class that Python's AutoTokenizer takes for models of `model_type` ("bert"; empty: not known) whose files name
/// the class `declared` ("BertTokenizerFast"; empty: none), without the "Tokenizer" in its name. Empty: none in
/// particular.
std::string tokenizer_class_name(const std::string& model_type, const std::string& declared);

/// The defaults of the class with this name. One that is not known has no special tokens.
TokenizerClass find_tokenizer_class(const std::string& name);

/// Whether the vocab.txt of the class with this name is used as BERT uses it.
bool splits_like_bert(const std::string& name);

}  // namespace transformers::inputs

namespace transformers {
using inputs::SpecialTokens;
}
