#pragma once

// Decoders: convert tokens of the vocabulary to text.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace transformers::tokenizers {

/// Turns tokens into parts of text. Const calls are safe from several threads.
class Decoder {
 public:
  virtual ~Decoder() = default;

  /// The parts of the text; their concatenation is the text.
  virtual std::vector<std::string> decode_chain(std::vector<std::string> tokens) const = 0;
};

/// Reads the "decoder" of a tokenizer.json. Throws Error for an unknown type; the message lists the known ones.
std::unique_ptr<Decoder> read_decoder(const nlohmann::json& description);

/// ByteLevel: maps the alphabet of byte_level.h back to bytes and joins all tokens, because the bytes of a character
/// may be in several. Invalid UTF-8 becomes U+FFFD.
std::unique_ptr<Decoder> make_byte_level_decoder();

/// ByteFallback: replaces each run of tokens like "<0xE2>" by the text of these bytes. If it is not UTF-8, each token
/// becomes U+FFFD.
std::unique_ptr<Decoder> make_byte_fallback_decoder();

/// WordPiece: removes the prefix of continuations, and adds a space before other tokens except the first.
std::unique_ptr<Decoder> read_word_piece_decoder(const nlohmann::json& description);

/// BPEDecoder: replaces the end-of-word suffix of tokens by a space, and removes it from the last token.
std::unique_ptr<Decoder> read_bpe_decoder(const nlohmann::json& description);

/// CTC: merges repeated tokens and removes padding. With "cleanup" it replaces the word delimiter by a space.
std::unique_ptr<Decoder> read_ctc_decoder(const nlohmann::json& description);

/// Metaspace: replaces the visible space sign by a space. Removes it from the first token if the pre-tokenizer prepends
/// one.
std::unique_ptr<Decoder> read_metaspace_decoder(const nlohmann::json& description);

/// Replace: replaces matches of "pattern" by "content", in each token.
std::unique_ptr<Decoder> read_replace_decoder(const nlohmann::json& description);

/// Strip: removes up to "start" characters "content" from the start of each token and up to "stop" from its end.
std::unique_ptr<Decoder> read_strip_decoder(const nlohmann::json& description);

/// Fuse: joins all tokens into one.
std::unique_ptr<Decoder> make_fuse_decoder();

}  // namespace transformers::tokenizers
