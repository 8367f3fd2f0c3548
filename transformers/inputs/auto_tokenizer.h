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

/// The options of one call of a tokenizer.
struct TokenizeOptions {
  Padding padding = Padding::No;
  bool truncation = false;
  std::optional<int64_t> max_length = std::nullopt;  // nullopt: model_max_length; a value alone also truncates
  int64_t pad_to_multiple_of = 0;
  bool add_special_tokens = true;
  int num_threads = 0;    // for several texts; 0: the number of cores
  size_t first_text = 0;  // index of the first text, for error messages
};

/// A tokenizer with the settings of its checkpoint. Copies share the vocabulary. Const calls are thread-safe.
class AutoTokenizer {
 public:
  /// Reads tokenizer.json, or vocab.txt, and tokenizer_config.json from a directory or from a repository in the local
  /// Hugging Face cache. As in Python, truncation and padding of tokenizer.json are ignored: they are options of each
  /// call. Throws Error if a file is missing or invalid; the message names the file.
  static AutoTokenizer from_pretrained(const std::string& checkpoint, const std::string& revision = "main");

  /// Tokenises a text or a pair of texts. The result maps the names of the model's inputs to int64 tensors [length].
  accelerate::Batch operator()(const std::string& text, const TokenizeOptions& options = {}) const;
  template <std::convertible_to<std::string> Text>  // a template, so that braces always mean options
  accelerate::Batch operator()(const std::string& text, const Text& text_pair,
                               const TokenizeOptions& options = {}) const {
    return tokenize_pair(text, text_pair, options);
  }

  /// Tokenises several texts, or pairs of texts, to int64 tensors [texts, length]. Throws Error if lengths differ and
  /// padding is off.
  accelerate::Batch operator()(const std::vector<std::string>& texts, const TokenizeOptions& options = {}) const;
  accelerate::Batch operator()(const std::vector<std::pair<std::string, std::string>>& pairs,
                               const TokenizeOptions& options = {}) const;

  /// The same with `labels`, for rows of a streamed data set. Labels are int64 for classes, float32 for regression and
  /// for several labels per row.
  accelerate::Batch operator()(const std::vector<text::LabelledText>& rows, const TokenizeOptions& options = {}) const;

  /// The encodings of the rows (ids, offsets, masks), without padding.
  std::vector<Encoding> encode(const std::vector<text::LabelledText>& rows, const TokenizeOptions& options = {}) const;

  /// The text of ids, a tensor [length]. Removes spaces before punctuation if clean_up_tokenization_spaces is set in
  /// tokenizer_config.json. Throws Error for a number that cannot be an id, such as the -100 of labels.
  std::string decode(const at::Tensor& ids, bool skip_special_tokens = false) const;

  /// The padding token. Throws Error if the tokenizer has none.
  PadToken pad_token() const;

  /// Sets the padding token, for tokenizers of decoders that have none. A model that classifies by the last token must
  /// know it too: `model->config().set("pad_token_id", tokenizer.pad_token().id)`. Throws Error if the token is not in
  /// the vocabulary.
  void set_pad_token(const std::string& token);

  /// The special tokens of the checkpoint, with the defaults of its tokenizer class in Python.
  const SpecialTokens& special_tokens() const { return config_.special_tokens; }

  /// The maximum number of tokens, by tokenizer_config.json and by the model's positions; nullopt: no limit.
  std::optional<int64_t> model_max_length() const { return config_.model_max_length; }

  /// Throws Error if `max_length` exceeds the number of position embeddings of the model in config.json. Otherwise the
  /// first long text would fail in the middle of training. Each call with a `max_length` checks this first.
  void check_max_length(std::optional<int64_t> max_length) const;

  /// The names of the tensors that a call returns, in their order.
  const std::vector<std::string>& model_input_names() const { return config_.model_input_names; }

  /// A hash of everything that the result depends on: tokenizers with equal fingerprints give the same tokens.
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
