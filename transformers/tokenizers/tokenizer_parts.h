#pragma once

// The components of a tokenizer, in the order in which they are applied, and the options in its file.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "transformers/tokenizers/added_tokens.h"
#include "transformers/tokenizers/decoders/decoder.h"
#include "transformers/tokenizers/models/model.h"
#include "transformers/tokenizers/normalizers/normalizer.h"
#include "transformers/tokenizers/post_processors/post_processor.h"
#include "transformers/tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "transformers/tokenizers/tokenizer.h"

namespace transformers::tokenizers {

/// All but the model may be null.
struct Tokenizer::Parts {
  std::string source;  // the file, for errors
  AddedTokens added_tokens;
  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  std::unique_ptr<Model> model;
  std::unique_ptr<PostProcessor> post_processor;
  std::unique_ptr<Decoder> decoder;
};

/// Reads the "truncation" of a tokenizer.json. Throws Error if a field is missing or wrong; the message names it.
TruncationOptions read_truncation(const nlohmann::json& description);

/// Reads the "padding" of a tokenizer.json. Throws Error if a field is missing or wrong; the message names it.
PaddingOptions read_padding(const nlohmann::json& description);

}  // namespace transformers::tokenizers
