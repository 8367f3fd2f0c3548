#pragma once

// WordPiece: splits a word greedily from left to right into the longest entries of the vocabulary.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transformers/tokenizers/models/model.h"
#include "transformers/tokenizers/models/vocabulary.h"

namespace transformers::tokenizers {

struct WordPieceOptions {
  std::string unk_token = "[UNK]";               // token of words that cannot be split
  std::string continuing_subword_prefix = "##";  // prefix of entries inside a word
  size_t max_input_chars_per_word = 100;         // longer words become unk_token
};

/// A WordPiece model.
class WordPiece : public Model {
 public:
  /// If the vocabulary has no `unk_token`, tokenize throws Error for a word that cannot be split.
  WordPiece(Vocabulary vocabulary, WordPieceOptions options);

  void tokenize(std::string_view piece, std::vector<Token>& tokens) const override;
  std::optional<uint32_t> token_to_id(std::string_view token) const override { return vocabulary_.find(token); }
  const std::string* id_to_token(uint32_t id) const override { return vocabulary_.text(id); }
  size_t vocab_size() const override { return vocabulary_.size(); }

 private:
  bool cut(std::string_view word, std::vector<Token>& tokens) const;
  uint32_t unk_id(std::string_view word) const;

  Vocabulary vocabulary_;
  Vocabulary continuations_;  // the entries that have the prefix, with the prefix removed
  WordPieceOptions options_;
  std::optional<uint32_t> unk_id_;
  size_t max_bytes_ = 0;  // of an entry
  uint32_t cache_owner_;
};

/// Reads a vocab.txt: an entry in each line, whose number is its id. Throws Error when it cannot be read.
Vocabulary read_vocab_file(const std::filesystem::path& path);

/// Reads a model of type "WordPiece".
std::unique_ptr<Model> read_word_piece(const nlohmann::json& description);

}  // namespace transformers::tokenizers
