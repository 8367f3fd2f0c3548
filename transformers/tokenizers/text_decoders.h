#pragma once

// Decoders that work on the text of tokens: Replace, Strip and Fuse.

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "transformers/tokenizers/decoder.h"

namespace transformers::tokenizers {

/// Replace: puts "content" in place of what matches "pattern", in each token.
std::unique_ptr<Decoder> read_replace_decoder(const nlohmann::json& description);

/// Strip: takes up to "start" characters "content" from the front of each token and up to "stop" from its end.
std::unique_ptr<Decoder> read_strip_decoder(const nlohmann::json& description);

/// Fuse: joins all tokens into one.
std::unique_ptr<Decoder> make_fuse_decoder();

}  // namespace transformers::tokenizers
