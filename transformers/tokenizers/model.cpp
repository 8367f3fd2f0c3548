#include "transformers/tokenizers/model.h"

#include <nlohmann/json.hpp>

#include "transformers/tokenizers/bpe.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/unigram.h"
#include "transformers/tokenizers/word_level.h"
#include "transformers/tokenizers/word_piece.h"

namespace transformers::tokenizers {

namespace {

template <class T>
bool has(const nlohmann::json& description, const char* name) {
  auto found = description.find(name);
  return found != description.end() && holds<T>(*found);
}

/// The type of a model. Older files do not say it; their fields do, as in the
/// `tokenizers` package.
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
