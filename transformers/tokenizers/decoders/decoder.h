#pragma once

// The way back: tokens of the vocabulary become text.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace transformers::tokenizers {

/// Turns tokens into parts of text. Const calls are safe from several threads.
class Decoder {
 public:
  virtual ~Decoder() = default;

  /// The parts that, one after the other, are the text.
  virtual std::vector<std::string> decode_chain(std::vector<std::string> tokens) const = 0;
};

/// Reads the "decoder" of a tokenizer.json. Throws Error for a type that is not known, listing those that are.
std::unique_ptr<Decoder> read_decoder(const nlohmann::json& description);

/// Reads back the alphabet of byte_level.h and joins all tokens, since a character may be spread over several. What is
/// not UTF-8 becomes U+FFFD.
std::unique_ptr<Decoder> make_byte_level_decoder();

/// Turns each run of tokens like "<0xE2>" into its text, or into one U+FFFD for each when that is not UTF-8.
std::unique_ptr<Decoder> make_byte_fallback_decoder();

/// WordPiece: a space before each token that does not begin with the prefix of a continued word.
std::unique_ptr<Decoder> read_word_piece_decoder(const nlohmann::json& description);

/// BPEDecoder: a space after each token with the suffix of an ended word.
std::unique_ptr<Decoder> read_bpe_decoder(const nlohmann::json& description);

/// CTC: the same token again counts once, padding goes away, and the word delimiter becomes a space.
std::unique_ptr<Decoder> read_ctc_decoder(const nlohmann::json& description);

/// Metaspace: the visible sign for a space becomes one again, but for the sign that was put before the text.
std::unique_ptr<Decoder> read_metaspace_decoder(const nlohmann::json& description);

/// Replace: puts "content" in place of what matches "pattern", in each token.
std::unique_ptr<Decoder> read_replace_decoder(const nlohmann::json& description);

/// Strip: takes up to "start" characters "content" from the front of each token and up to "stop" from its end.
std::unique_ptr<Decoder> read_strip_decoder(const nlohmann::json& description);

/// Fuse: joins all tokens into one.
std::unique_ptr<Decoder> make_fuse_decoder();

}  // namespace transformers::tokenizers
