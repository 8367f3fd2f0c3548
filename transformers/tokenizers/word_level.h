#pragma once

// WordLevel: each word is an entry of the vocabulary, or unknown.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transformers/tokenizers/model.h"
#include "transformers/tokenizers/vocabulary.h"

namespace transformers::tokenizers {

/// A WordLevel model.
class WordLevel : public Model {
 public:
  /// A word that is no entry is an Error when `unk_token` is none either.
  WordLevel(Vocabulary vocabulary, std::string unk_token);

  void tokenize(std::string_view piece, std::vector<Token>& tokens) const override;
  std::optional<uint32_t> token_to_id(std::string_view token) const override { return vocabulary_.find(token); }
  const std::string* id_to_token(uint32_t id) const override { return vocabulary_.text(id); }
  size_t vocab_size() const override { return vocabulary_.size(); }

 private:
  Vocabulary vocabulary_;
  std::string unk_token_;
};

/// Reads a model of type "WordLevel".
std::unique_ptr<Model> read_word_level(const nlohmann::json& description);

}  // namespace transformers::tokenizers
