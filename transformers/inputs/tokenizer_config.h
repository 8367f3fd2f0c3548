#pragma once

// tokenizer_config.json of a checkpoint: what is known of a tokenizer besides how it splits text.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "transformers/tokenizers/encoding.h"

namespace transformers::inputs {

/// The settings that a tokenizer of Python's transformers would have.
struct TokenizerConfig {
  std::optional<int64_t> model_max_length = std::nullopt;  // tokens that the model takes; nothing: any number
  tokenizers::Direction padding_side = tokenizers::Direction::Right;
  tokenizers::Direction truncation_side = tokenizers::Direction::Right;
  std::optional<std::string> pad_token = std::nullopt;
  std::vector<std::string> model_input_names = {"input_ids", "attention_mask"};
  bool do_lower_case = true;  // of a tokenizer that has a vocab.txt only
};

/// Reads tokenizer_config.json and special_tokens_map.json of `directory`, both of which may be missing. Whether there
/// are token_type_ids follows from the file, or from the class of the tokenizer. Throws Error naming the file for one
/// that is broken.
TokenizerConfig read_tokenizer_config(const std::filesystem::path& directory);

}  // namespace transformers::inputs
