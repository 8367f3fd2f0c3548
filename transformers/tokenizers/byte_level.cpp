#include "transformers/tokenizers/byte_level.h"

#include "accelerate/base/utf8.h"

namespace transformers::tokenizers {

using accelerate::character_bytes;
using accelerate::first_character;

void append_token_bytes(std::string_view token, std::string& bytes) {
  size_t before = bytes.size();
  for (size_t position = 0; position < token.size(); position += character_bytes(token[position])) {
    char32_t character = first_character(token.substr(position));
    int16_t byte = character < kByteCharacterLimit ? kCharacterBytes[character] : int16_t{-1};
    if (byte < 0) {
      bytes.resize(before);
      bytes.append(token);
      return;
    }
    bytes.push_back(static_cast<char>(byte));
  }
}

}  // namespace transformers::tokenizers
