#pragma once

// A tokenizer, read from a tokenizer.json or a vocab.txt: text to ids and back.

#include "accelerate/base/require_cpp20.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transformers/tokenizers/encoding.h"
#include "transformers/tokenizers/length_options.h"

namespace transformers::tokenizers {

class Pieces;
struct Token;

struct VocabOptions {
  bool lowercase = true;
  std::optional<bool> strip_accents = std::nullopt;  // nullopt: same as lowercase
  bool tokenize_chinese_chars = true;                // each CJK ideograph is a word
};

struct EncodeOptions {
  bool add_special_tokens = true;
};

struct EncodeBatchOptions {
  bool add_special_tokens = true;
  int threads = 0;        // 0: the number of cores available to this process
  size_t first_text = 0;  // index of the first text, for error messages
};

/// A tokenizer. Copies share the vocabulary. Const calls are thread-safe.
class Tokenizer {
 public:
  /// Reads a tokenizer.json, including its truncation and padding. Throws Error if it is invalid; the message names the
  /// file and the problem.
  static Tokenizer from_file(const std::filesystem::path& path);

  /// As from_file, from the content of such a file. Error messages call it `source`.
  static Tokenizer from_json(std::string_view text, const std::string& source = "tokenizer.json");

  /// BERT's tokenizer with the vocabulary of a vocab.txt. Special tokens are [CLS], [SEP], [PAD], [UNK] and [MASK].
  static Tokenizer from_vocab(const std::filesystem::path& path, const VocabOptions& options = {});

  /// The encoding of a text, truncated and padded if that is enabled. Throws Error if the text is not UTF-8; the
  /// message has the position.
  Encoding encode(std::string_view text, const EncodeOptions& options = {}) const;

  /// The encoding of a pair of texts.
  Encoding encode(std::string_view text, std::string_view pair, const EncodeOptions& options = {}) const;

  /// Encodes texts on several threads. Errors name the text by its index.
  std::vector<Encoding> encode_batch(const std::vector<std::string>& texts,
                                     const EncodeBatchOptions& options = {}) const;

  /// Encodes pairs of texts on several threads.
  std::vector<Encoding> encode_batch(const std::vector<std::pair<std::string, std::string>>& pairs,
                                     const EncodeBatchOptions& options = {}) const;

  /// The text of `ids`. Unknown ids are skipped.
  std::string decode(std::span<const uint32_t> ids, bool skip_special_tokens = true) const;

  /// The vocabulary entries of an encoding.
  std::vector<std::string> tokens(const Encoding& encoding) const;

  /// The id of a vocabulary entry or added token.
  std::optional<uint32_t> token_to_id(std::string_view token) const;

  /// The vocabulary entry or added token with this id, or null. Owned by the tokenizer.
  const std::string* id_to_token(uint32_t id) const;

  /// Number of entries, with or without the added tokens that are not in the model's vocabulary.
  size_t vocab_size(bool with_added_tokens = true) const;

  /// Whether its model is BPE, of any kind.
  bool is_bpe() const;

  /// Truncates encodings to `max_length` from now on. Throws Error if the special tokens and the stride leave no room
  /// for a token.
  void enable_truncation(const TruncationOptions& options);
  void no_truncation() { truncation_.reset(); }

  /// Pads encodings from now on.
  void enable_padding(const PaddingOptions& options) { padding_ = options; }
  void no_padding() { padding_.reset(); }

  const std::optional<TruncationOptions>& truncation() const { return truncation_; }
  const std::optional<PaddingOptions>& padding() const { return padding_; }

 private:
  struct Parts;
  struct Workspace;

  explicit Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  Encoding encode_text(std::string_view text, uint32_t type_id, Workspace& workspace) const;
  void cut(const Pieces& pieces, std::vector<Token>& tokens, std::vector<size_t>& token_ends) const;
  Encoding encode_texts(std::span<const std::string_view> texts, bool add_special_tokens) const;
  template <class TextsOf>
  std::vector<Encoding> encode_many(size_t count, const EncodeBatchOptions& options, const TextsOf& texts_of) const;

  std::shared_ptr<const Parts> parts_;
  std::optional<TruncationOptions> truncation_;
  std::optional<PaddingOptions> padding_;
};

}  // namespace transformers::tokenizers

namespace transformers {
using tokenizers::EncodeBatchOptions;
using tokenizers::EncodeOptions;
using tokenizers::Tokenizer;
using tokenizers::VocabOptions;
}  // namespace transformers
