#pragma once

// Post-processors: add special tokens, set type ids and trim offsets.

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

  /// The number of tokens that `process` adds to a text or to a pair.
  virtual size_t added_tokens(bool is_pair) const = 0;

  /// Changes one or two encodings in place, with their overflowing windows. The tokenizer then appends the second to
  /// the first; a processor that joins them itself leaves one encoding.
  virtual void process(std::vector<Encoding>& encodings, bool add_special_tokens) const = 0;

  /// Whether `process` reads Encoding::spaces.
  virtual bool needs_spaces() const { return false; }
};

/// Reads the "post_processor" of a tokenizer.json. Throws Error for an unknown type; the message lists the known ones.
std::unique_ptr<PostProcessor> read_post_processor(const nlohmann::json& description);

/// BertProcessing: "cls A sep", or "cls A sep B sep" with type 1 from B on.
std::unique_ptr<PostProcessor> read_bert_processor(const nlohmann::json& description);

/// RobertaProcessing: "cls A sep", or "cls A sep sep B sep", all of type 0; trims offsets too.
std::unique_ptr<PostProcessor> read_roberta_processor(const nlohmann::json& description);

/// Reads a TemplateProcessing. Throws Error for a template with an unknown text or special token.
std::unique_ptr<PostProcessor> read_template_processor(const nlohmann::json& description);

struct OffsetTrimming {
  bool trim_offsets = true;
  bool add_prefix_space = true;  // the one space before the first token was not part of the text

  /// Removes the white space counted in Encoding::spaces from the offsets of `encodings` and of their windows.
  void apply(std::vector<Encoding>& encodings) const;
};

/// Reads "trim_offsets" and "add_prefix_space".
OffsetTrimming read_offset_trimming(const nlohmann::json& description);

}  // namespace transformers::tokenizers
