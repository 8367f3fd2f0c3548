#pragma once

// Reads tokenizer_config.json of a checkpoint: special tokens, lengths and the names of the model's inputs.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "transformers/tokenizers/encoding.h"
#include "transformers/tokenizers/tokenizer.h"

namespace transformers::inputs {

/// The special tokens. A tokenizer need not have all of them.
struct SpecialTokens {
  std::optional<std::string> pad_token = std::nullopt;
  std::optional<std::string> unk_token = std::nullopt;
  std::optional<std::string> cls_token = std::nullopt;
  std::optional<std::string> sep_token = std::nullopt;
  std::optional<std::string> mask_token = std::nullopt;
  std::optional<std::string> bos_token = std::nullopt;
  std::optional<std::string> eos_token = std::nullopt;
};

/// The defaults of one of Python's tokenizer classes.
struct TokenizerClass {
  std::vector<std::string> model_input_names = {"input_ids", "attention_mask"};
  SpecialTokens special_tokens = {};
  tokenizers::Direction padding_side = tokenizers::Direction::Right;
  bool without_padding = false;  // no pad_token, even if tokenizer.json enables padding
};

/// The tokenizer class that Python's AutoTokenizer chooses, without the suffix "Tokenizer". `model_type` is that of
/// config.json, such as "bert", or empty. `declared` is the class in tokenizer_config.json, such as
/// "BertTokenizerFast", or empty. Returns an empty name if there is no special class.
std::string tokenizer_class_name(const std::string& model_type, const std::string& declared);

/// The defaults of the class `name`. An unknown class has no special tokens.
TokenizerClass find_tokenizer_class(const std::string& name);

/// Whether the class `name` uses a vocab.txt as BERT does.
bool splits_like_bert(const std::string& name);

}  // namespace transformers::inputs

namespace transformers {
using inputs::SpecialTokens;
}

namespace transformers::inputs {

/// The settings that the tokenizer has in Python's Transformers.
struct TokenizerConfig {
  std::optional<int64_t> model_max_length = std::nullopt;  // nullopt: no limit
  std::optional<int64_t> max_positions = std::nullopt;     // number of position embeddings; nullopt: none
  tokenizers::Direction padding_side = tokenizers::Direction::Right;
  tokenizers::Direction truncation_side = tokenizers::Direction::Right;
  SpecialTokens special_tokens = {};
  std::vector<std::string> model_input_names = {"input_ids", "attention_mask"};
  bool clean_up_tokenization_spaces = false;  // applied by decode
};

/// Reads tokenizer_config.json, special_tokens_map.json and config.json of `directory`, for the `tokenizer` that was
/// read from there. Any of them may be missing. Missing settings are those of `tokenizer` (its padding and truncation)
/// or of its class. model_max_length is at most the number of positions of the model. Throws Error if a file is
/// invalid; the message names it.
TokenizerConfig read_tokenizer_config(const std::filesystem::path& directory, const tokenizers::Tokenizer& tokenizer);

/// Reads the options for the vocab.txt of `directory`. Throws Error if the tokenizer class is known and does not use a
/// vocab.txt as BERT does.
tokenizers::VocabOptions read_vocab_options(const std::filesystem::path& directory);

}  // namespace transformers::inputs
