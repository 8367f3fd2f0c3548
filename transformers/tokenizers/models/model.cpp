#include "transformers/tokenizers/models/model.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "accelerate/base/error.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/models/bpe.h"
#include "transformers/tokenizers/models/unigram.h"
#include "transformers/tokenizers/models/vocabulary.h"
#include "transformers/tokenizers/models/word_piece.h"

namespace transformers::tokenizers {

namespace {

/// WordLevel: each word is an entry of the vocabulary, or unknown.
class WordLevel : public Model {
 public:
  /// tokenize throws Error for an unknown word if `unk_token` is not in the vocabulary.
  WordLevel(Vocabulary vocabulary, std::string unk_token)
      : vocabulary_(std::move(vocabulary)), unk_token_(std::move(unk_token)) {}

  void tokenize(std::string_view piece, std::vector<Token>& tokens) const override {
    auto id = vocabulary_.find(piece);
    if (!id) id = vocabulary_.find(unk_token_);
    if (!id)
      accelerate::fail("WordLevel: '", piece, "' is not in the vocabulary, and neither is the unk_token '", unk_token_,
                       "'");
    tokens.push_back({*id, 0, static_cast<uint32_t>(piece.size())});
  }
  std::optional<uint32_t> token_to_id(std::string_view token) const override { return vocabulary_.find(token); }
  const std::string* id_to_token(uint32_t id) const override { return vocabulary_.text(id); }
  size_t vocab_size() const override { return vocabulary_.size(); }

 private:
  Vocabulary vocabulary_;
  std::string unk_token_;
};

std::unique_ptr<Model> read_word_level(const nlohmann::json& description) {
  return std::make_unique<WordLevel>(read_vocabulary(description), field<std::string>(description, "unk_token"));
}

template <class T>
bool has(const nlohmann::json& description, const char* name) {
  auto found = description.find(name);
  return found != description.end() && holds<T>(*found);
}

/// The type of a model. If the file has none, it is derived from the fields, as in the `tokenizers` package.
std::string model_type(const nlohmann::json& description) {
  if (!description.is_object() || description.contains("type")) return component_type(description, "model");
  const auto vocabulary = description.find("vocab");
  if (vocabulary != description.end() && vocabulary->is_array()) return "Unigram";
  if (description.contains("merges")) return "BPE";
  if (!has<std::string>(description, "unk_token")) return component_type(description, "model");
  const bool is_word_piece = has<std::string>(description, "continuing_subword_prefix") &&
                             has<size_t>(description, "max_input_chars_per_word");
  return is_word_piece ? "WordPiece" : "WordLevel";
}

}  // namespace

std::unique_ptr<Model> read_model(const nlohmann::json& description) {
  std::string type = model_type(description);
  if (type == "BPE") return read_bpe(description);
  if (type == "Unigram") return read_unigram(description);
  if (type == "WordLevel") return read_word_level(description);
  if (type == "WordPiece") return read_word_piece(description);
  fail_unknown_type("model", type, {"BPE", "Unigram", "WordLevel", "WordPiece"});
}

}  // namespace transformers::tokenizers
