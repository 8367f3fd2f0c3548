#pragma once

// The normalizer of BERT.

#include <string>

#include "transformers/tokenizers/normalizers/normalizer.h"

namespace transformers::tokenizers {

struct BertNormalizerOptions {
  bool clean_text = true;            // remove control characters, make all white space a space
  bool handle_chinese_chars = true;  // put spaces around CJK ideographs
  bool strip_accents = true;
  bool lowercase = true;
};

/// The four steps in one pass.
class BertNormalizer : public Normalizer {
 public:
  explicit BertNormalizer(const BertNormalizerOptions& options) : options_(options) {}

  void normalize(NormalizedText& text) const override;

 private:
  void normalize_in_steps(NormalizedText& text) const;
  void change_ascii(char* text, size_t bytes) const;
  void append_changed(char32_t character, std::string& changed) const;
  void append_lower_case(char32_t character, std::string& changed) const;

  BertNormalizerOptions options_;
};

}  // namespace transformers::tokenizers
