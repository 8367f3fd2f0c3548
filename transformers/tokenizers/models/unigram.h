#pragma once

// The unigram model of SentencePiece (Kudo, 2018): finds the segmentation with the highest sum of scores.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transformers/tokenizers/models/model.h"
#include "transformers/tokenizers/models/vocabulary.h"
#include "transformers/tokenizers/text/prefix_trie.h"

namespace transformers::tokenizers {

/// A unigram model.
class Unigram : public Model {
 public:
  /// `entries` are texts with their scores; the id is the index. `unk_id` is the token of characters that no entry
  /// covers, unless `byte_fallback` is set and their bytes have tokens. Throws Error if `unk_id` is not the id of an
  /// entry.
  Unigram(std::vector<std::pair<std::string, double>> entries, std::optional<uint32_t> unk_id, bool byte_fallback);

  /// Throws Error when no entry covers a character and there is no unk_id.
  void tokenize(std::string_view piece, std::vector<Token>& tokens) const override;
  std::optional<uint32_t> token_to_id(std::string_view token) const override { return vocabulary_.find(token); }
  const std::string* id_to_token(uint32_t id) const override { return vocabulary_.text(id); }
  size_t vocab_size() const override { return vocabulary_.size(); }

 private:
  struct Step;
  void find_best_path(std::string_view piece, std::vector<Step>& steps) const;
  void add_unknown(std::string_view piece, uint32_t begin, uint32_t end, std::vector<Token>& tokens) const;

  Vocabulary vocabulary_;
  std::vector<double> scores_;
  std::optional<uint32_t> unk_id_;
  double unk_score_ = 0;
  std::vector<std::optional<uint32_t>> byte_ids_;  // of "<0x00>" to "<0xFF>", with byte_fallback
  PrefixTrie trie_;
  uint32_t cache_owner_;
};

/// Reads a model of type "Unigram".
std::unique_ptr<Model> read_unigram(const nlohmann::json& description);

}  // namespace transformers::tokenizers
