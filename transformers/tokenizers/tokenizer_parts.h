#pragma once

// The components of a tokenizer, in the order in which a text meets them.

#include <memory>
#include <string>

#include "transformers/tokenizers/added_tokens.h"
#include "transformers/tokenizers/decoder.h"
#include "transformers/tokenizers/model.h"
#include "transformers/tokenizers/normalizer.h"
#include "transformers/tokenizers/post_processor.h"
#include "transformers/tokenizers/pre_tokenizer.h"
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

}  // namespace transformers::tokenizers
