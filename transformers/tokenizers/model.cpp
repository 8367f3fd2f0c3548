#include "transformers/tokenizers/model.h"

#include "transformers/tokenizers/bpe.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/unigram.h"
#include "transformers/tokenizers/word_level.h"
#include "transformers/tokenizers/word_piece.h"

namespace transformers::tokenizers {

std::unique_ptr<Model> read_model(const nlohmann::json& description) {
  std::string type = component_type(description, "model");
  if (type == "BPE") return read_bpe(description);
  if (type == "Unigram") return read_unigram(description);
  if (type == "WordLevel") return read_word_level(description);
  if (type == "WordPiece") return read_word_piece(description);
  fail_unknown_type("model", type, {"BPE", "Unigram", "WordLevel", "WordPiece"});
}

}  // namespace transformers::tokenizers
