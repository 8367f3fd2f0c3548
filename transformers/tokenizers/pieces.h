#pragma once

// A text in pieces: what lies between its added tokens, and later each pre-token.

#include <cstdint>
#include <string_view>
#include <vector>

#include "transformers/tokenizers/normalized_text.h"

namespace transformers::tokenizers {

/// Bytes [begin, end) of the text.
struct Piece {
  static constexpr uint32_t kText = UINT32_MAX;  // it is still to be cut into tokens

  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t token = kText;  // the id of the added token that it is
};

/// A text and its pieces, in order and none of them empty. What lies between two pieces is left out.
struct Pieces {
  NormalizedText text;
  std::vector<Piece> list;
  std::vector<Piece> next;  // memory for the pieces that the current ones are cut into

  std::string_view operator[](const Piece& piece) const {
    return text.text().substr(piece.begin, piece.end - piece.begin);
  }
};

}  // namespace transformers::tokenizers
