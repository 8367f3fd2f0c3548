#pragma once

// Byte pair encoding (Sennrich et al., 2016): a word is split into characters, and neighbours are merged in the order
// of the learnt merges.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transformers/tokenizers/models/merges.h"
#include "transformers/tokenizers/models/model.h"
#include "transformers/tokenizers/models/vocabulary.h"

namespace transformers::tokenizers {

struct BpeOptions {
  std::optional<std::string> unk_token = {};   // token of unknown characters; nullopt: they are dropped
  std::string continuing_subword_prefix = {};  // prefix of characters inside a word
  std::string end_of_word_suffix = {};         // suffix of the last character of a word
  bool fuse_unk = false;                       // one unk_token for neighbouring unknown characters
  bool byte_fallback = false;                  // tokens like "<0xE2>" for the bytes of an unknown character
  bool ignore_merges = false;                  // a word that is in the vocabulary is always one token
};

/// A BPE model.
class Bpe : public Model {
 public:
  /// `merges` are pairs of vocabulary entries by descending priority. Throws Error if an entry or a merged one is not
  /// in the vocabulary.
  Bpe(Vocabulary vocabulary, const std::vector<std::pair<std::string, std::string>>& merges, BpeOptions options);

  void tokenize(std::string_view piece, std::vector<Token>& tokens) const override;
  std::optional<uint32_t> token_to_id(std::string_view token) const override { return vocabulary_.find(token); }
  const std::string* id_to_token(uint32_t id) const override { return vocabulary_.text(id); }
  size_t vocab_size() const override { return vocabulary_.size(); }

 private:
  std::optional<uint32_t> find_character(std::string_view character) const;
  void split_characters(std::string_view piece, std::vector<Symbol>& symbols) const;
  bool add_bytes(std::string_view character, std::vector<Symbol>& symbols) const;
  uint32_t unk_id() const;

  Vocabulary vocabulary_;
  BpeOptions options_;
  std::vector<std::optional<uint32_t>> byte_ids_;       // of "<0x00>" to "<0xFF>", for byte_fallback
  std::vector<std::optional<uint32_t>> character_ids_;  // of the first code points, to avoid hash look-ups
  Merges merges_;
  uint32_t cache_owner_;
};

/// Reads a model of type "BPE", with merges as "a b" or as ["a", "b"].
std::unique_ptr<Model> read_bpe(const nlohmann::json& description);

}  // namespace transformers::tokenizers
