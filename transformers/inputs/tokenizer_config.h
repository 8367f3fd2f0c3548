#pragma once

// tokenizer_config.json of a checkpoint: what is known of a tokenizer besides how it splits text.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "transformers/inputs/tokenizer_class.h"
#include "transformers/tokenizers/encoding.h"
#include "transformers/tokenizers/tokenizer.h"

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
