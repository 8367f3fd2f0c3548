#pragma once

// Decoders of tokens that are words or parts of words, between which spaces come back: WordPiece, BPEDecoder, CTC and
// Metaspace.

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "transformers/tokenizers/decoder.h"

namespace transformers::tokenizers {

/// WordPiece: a space before each token that does not begin with the prefix of a continued word.
std::unique_ptr<Decoder> read_word_piece_decoder(const nlohmann::json& description);

/// BPEDecoder: a space after each token with the suffix of an ended word.
std::unique_ptr<Decoder> read_bpe_decoder(const nlohmann::json& description);

/// CTC: the same token again counts once, padding goes away, and the word delimiter becomes a space.
std::unique_ptr<Decoder> read_ctc_decoder(const nlohmann::json& description);

/// Metaspace: the visible sign for a space becomes one again, but for the sign that was put before the text.
std::unique_ptr<Decoder> read_metaspace_decoder(const nlohmann::json& description);

}  // namespace transformers::tokenizers
