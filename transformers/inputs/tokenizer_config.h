#pragma once

// tokenizer_config.json of a checkpoint: what is known of a tokenizer besides how it splits text.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "transformers/tokenizers/encoding.h"
#include "transformers/tokenizers/tokenizer.h"

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

namespace transformers::inputs {

/// The settings that a tokenizer of Python's transformers would have.
struct TokenizerConfig {
  std::optional<int64_t> model_max_length = std::nullopt;  // tokens that the model takes; nothing: any number
  std::optional<int64_t> max_positions = std::nullopt;     // places that it has for tokens; nothing: it counts none
  tokenizers::Direction padding_side = tokenizers::Direction::Right;
  tokenizers::Direction truncation_side = tokenizers::Direction::Right;
  SpecialTokens special_tokens = {};
  std::vector<std::string> model_input_names = {"input_ids", "attention_mask"};
  bool clean_up_tokenization_spaces = false;  // when tokens become text again
};

/// Reads tokenizer_config.json, special_tokens_map.json and config.json of `directory`, all of which may be missing,
/// for the `tokenizer` that was read there. What they leave out follows from its own padding and truncation, and else
/// from its class; a length that they leave out, or that is longer, is as many positions as the model has. Throws Error
/// naming the file for one that is broken.
TokenizerConfig read_tokenizer_config(const std::filesystem::path& directory, const tokenizers::Tokenizer& tokenizer);

/// Reads how the vocab.txt of `directory` is used. Throws Error where that is not as BERT uses it.
tokenizers::VocabOptions read_vocab_options(const std::filesystem::path& directory);

}  // namespace transformers::inputs
