#include "transformers/tokenizers/word_level.h"

#include <utility>

#include "accelerate/base/error.h"
#include "transformers/tokenizers/description.h"

namespace transformers::tokenizers {

WordLevel::WordLevel(Vocabulary vocabulary, std::string unk_token)
    : vocabulary_(std::move(vocabulary)), unk_token_(std::move(unk_token)) {}

void WordLevel::tokenize(std::string_view piece, std::vector<Token>& tokens) const {
  auto id = vocabulary_.find(piece);
  if (!id) id = vocabulary_.find(unk_token_);
  if (!id)
    accelerate::fail("WordLevel: '", piece, "' is not in the vocabulary, and neither is the unk_token '", unk_token_,
                     "'");
  tokens.push_back({*id, 0, static_cast<uint32_t>(piece.size())});
}

std::unique_ptr<Model> read_word_level(const nlohmann::json& description) {
  return std::make_unique<WordLevel>(read_vocabulary(description), field<std::string>(description, "unk_token"));
}

}  // namespace transformers::tokenizers
