#pragma once

// What happens between the model and the user: special tokens around the texts, types, trimmed offsets.

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "transformers/tokenizers/encoding.h"

namespace transformers::tokenizers {

/// Prepares one encoding, or the two of a pair, for the model. Const calls are safe from several threads.
class PostProcessor {
 public:
  virtual ~PostProcessor() = default;

  /// How many tokens `process` adds to a text or to a pair of them.
  virtual size_t added_tokens(bool is_pair) const = 0;

  /// Changes one or two encodings in place, with their overflowing windows. The tokenizer then appends the second to
  /// the first; a processor that has joined them already leaves one.
  virtual void process(std::vector<Encoding>& encodings, bool add_special_tokens) const = 0;

  /// Whether `process` reads Encoding::spaces.
  virtual bool needs_spaces() const { return false; }
};

/// Reads the "post_processor" of a tokenizer.json. Throws Error for a type that is not known, listing those that are.
std::unique_ptr<PostProcessor> read_post_processor(const nlohmann::json& description);

}  // namespace transformers::tokenizers
