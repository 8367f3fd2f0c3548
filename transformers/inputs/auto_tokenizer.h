#pragma once

// The tokenizer of a checkpoint: text in, tensors for its model out.
//
//   auto tokenizer = transformers::AutoTokenizer::from_pretrained(checkpoint);
//   std::vector<std::string> texts{"a film to see twice", "no"};
//   auto batch = tokenizer(texts, {.padding = transformers::Padding::Longest, .truncation = true});

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accelerate/tensors/batch.h"
#include "transformers/inputs/padding.h"
#include "transformers/inputs/tokenizer_config.h"
#include "transformers/text/text_dataset.h"
#include "transformers/tokenizers/tokenizer.h"

namespace transformers::inputs {

/// What one call of a tokenizer does besides finding the tokens.
struct TokenizeOptions {
  Padding padding = Padding::No;
  bool truncation = false;
  std::optional<int64_t> max_length = std::nullopt;  // not given: what the model takes; given alone, it truncates
  int64_t pad_to_multiple_of = 0;
  bool add_special_tokens = true;
  int num_threads = 0;    // for several texts; 0: as many as there are cores
  size_t first_text = 0;  // of several texts, the number of the first one in errors
};

/// A tokenizer with the settings of its checkpoint. Copies share what was read. Any number of threads may call it.
class AutoTokenizer {
 public:
  /// Reads tokenizer.json, or vocab.txt, and tokenizer_config.json of a directory or of a name in the local Hugging
  /// Face cache. Truncation and padding that a tokenizer.json asks for are left out, as in Python: each call says what
  /// it wants. Throws Error naming the file that is missing or broken.
  static AutoTokenizer from_pretrained(const std::string& checkpoint, const std::string& revision = "main");

  /// The inputs of a text or of a pair of texts, under the names that the model takes them by: int64 tensors [length].
  accelerate::Batch operator()(const std::string& text, const TokenizeOptions& options = {}) const;
  template <std::convertible_to<std::string> Text>  // a template, so that braces always mean options
  accelerate::Batch operator()(const std::string& text, const Text& text_pair,
                               const TokenizeOptions& options = {}) const {
    return tokenize_pair(text, text_pair, options);
  }

  /// The inputs of several texts, or pairs of texts: int64 tensors [texts, length]. Throws Error where lengths differ
  /// and no padding is asked for.
  accelerate::Batch operator()(const std::vector<std::string>& texts, const TokenizeOptions& options = {}) const;
  accelerate::Batch operator()(const std::vector<std::pair<std::string, std::string>>& pairs,
                               const TokenizeOptions& options = {}) const;

  /// The same with `labels`, for rows of a data set that is streamed: int64, or float32 where they are numbers
  /// or several.
  accelerate::Batch operator()(const std::vector<text::LabelledText>& rows, const TokenizeOptions& options = {}) const;

  /// The tokens of each row with all that is known of them, without padding.
  std::vector<Encoding> encode(const std::vector<text::LabelledText>& rows, const TokenizeOptions& options = {}) const;

  /// The text of ids, a tensor [length], without spaces before punctuation where tokenizer_config.json wants that.
  /// Throws Error for a number that cannot be an id, such as the -100 of labels.
  std::string decode(const at::Tensor& ids, bool skip_special_tokens = false) const;

  /// What rows are filled up with. Throws Error for a tokenizer that has no such token.
  PadToken pad_token() const;

  /// Fills up with `token` from now on; for the tokenizers of decoders, which have none. A model that looks for the end
  /// of a text has to know it too: `model->config().set("pad_token_id", tokenizer.pad_token().id)`. Throws Error for a
  /// token that is not in the vocabulary.
  void set_pad_token(const std::string& token);

  /// The tokens with a meaning of their own, as the checkpoint or its class in Python has them.
  const SpecialTokens& special_tokens() const { return config_.special_tokens; }

  /// How many tokens the model takes, by tokenizer_config.json and by its positions; nothing: any number.
  std::optional<int64_t> model_max_length() const { return config_.model_max_length; }

  /// Throws Error for a length beyond the positions that the model of config.json has learnt: a text that is too long
  /// would be found in the middle of a training. Each call with a `max_length` does this first.
  void check_max_length(std::optional<int64_t> max_length) const;

  /// The names of the tensors, in their order.
  const std::vector<std::string>& model_input_names() const { return config_.model_input_names; }

  /// A name for everything that the result depends on: tokenizers with the same one give the same tokens.
  const std::string& fingerprint() const { return fingerprint_; }

  /// The tokenizer itself, without truncation and padding.
  const tokenizers::Tokenizer& backend() const { return tokenizer_; }

 private:
  AutoTokenizer(tokenizers::Tokenizer tokenizer, TokenizerConfig config, std::string fingerprint);

  accelerate::Batch tokenize_pair(const std::string& text, const std::string& text_pair,
                                  const TokenizeOptions& options) const;
  tokenizers::Tokenizer truncating(const TokenizeOptions& options) const;
  accelerate::Batch row_of(const Encoding& encoding) const;
  accelerate::Batch batch_of(const std::vector<Encoding>& encodings, const TokenizeOptions& options) const;
  accelerate::Batch padded(const std::vector<accelerate::Batch>& rows, const TokenizeOptions& options) const;
  accelerate::Batch tensors_of_one(accelerate::Batch row, const TokenizeOptions& options) const;

  tokenizers::Tokenizer tokenizer_;
  TokenizerConfig config_;
  std::string fingerprint_;
};

}  // namespace transformers::inputs

namespace transformers {
using inputs::AutoTokenizer;
using inputs::TokenizeOptions;
}  // namespace transformers
