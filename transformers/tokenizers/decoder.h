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

}  // namespace transformers::tokenizers
