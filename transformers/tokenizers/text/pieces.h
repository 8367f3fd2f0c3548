#pragma once

// A text split into pieces: first the parts between added tokens, later the pre-tokens.

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "transformers/tokenizers/text/normalized_text.h"

namespace transformers::tokenizers {

/// Bytes [begin, end) of the text.
struct Piece {
  static constexpr uint32_t kText = UINT32_MAX;  // not an added token: to be tokenised by the model

  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t token = kText;  // the id of its added token
};

/// A text and its pieces: in order, not empty. Text between two pieces is dropped.
class Pieces {
 public:
  NormalizedText text;
  std::vector<Piece> list;

  std::string_view operator[](const Piece& piece) const {
    return text.text().substr(piece.begin, piece.end - piece.begin);
  }

  /// Replaces each piece that is not an added token by those that `cut(piece, add)` passes to `add(begin, end)`.
  template <class Cut>
  void cut(const Cut& cut) {
    next_.clear();
    auto add = [this](size_t begin, size_t end) {
      if (begin < end) next_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
    };
    for (const auto& piece : list) {
      if (piece.token == Piece::kText) {
        cut(piece, add);
      } else {
        next_.push_back(piece);
      }
    }
    list.swap(next_);
  }

  /// Changes the text of each piece that is not an added token. `change(rewrite, piece)` must read all of the piece.
  template <class Change>
  void rewrite(const Change& change) {
    Rewrite rewrite(text);
    for (auto& piece : list) {
      rewrite.remove(piece.begin - rewrite.position());
      auto begin = static_cast<uint32_t>(rewrite.written());
      if (piece.token == Piece::kText) {
        change(rewrite, piece);
      } else {
        rewrite.keep(piece.end - piece.begin);
      }
      piece.begin = begin;
      piece.end = static_cast<uint32_t>(rewrite.written());
    }
    rewrite.remove(rewrite.rest().size());
    rewrite.finish();
  }

 private:
  std::vector<Piece> next_;  // memory for the pieces that the current ones are cut into
};

}  // namespace transformers::tokenizers
