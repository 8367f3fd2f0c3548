#include "transformers/tokenizers/normalizers/normalizer.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/normalizers/bert_normalizer.h"
#include "transformers/tokenizers/normalizers/character_changes.h"
#include "transformers/tokenizers/normalizers/normalizer.h"
#include "transformers/tokenizers/text/pattern.h"

namespace transformers::tokenizers {

namespace {

class ReplaceNormalizer : public Normalizer {
 public:
  ReplaceNormalizer(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

  /// What is written comes from the last character of the match.
  void normalize(NormalizedText& text) const override {
    Rewrite rewrite(text);
    bool changes = false;
    pattern_.for_each_match(text.text(), [&](size_t begin, size_t end, bool is_match) {
      if (!is_match) return;
      changes = true;
      rewrite.keep(begin - rewrite.position());
      rewrite.remove(end - begin);
      rewrite.insert(content_);
    });
    if (changes) rewrite.finish();
  }

 private:
  Pattern pattern_;
  std::string content_;
};

/// A normalizer that is one function.
class FunctionNormalizer : public Normalizer {
 public:
  explicit FunctionNormalizer(std::function<void(NormalizedText&)> function) : function_(std::move(function)) {}

  void normalize(NormalizedText& text) const override { function_(text); }

 private:
  std::function<void(NormalizedText&)> function_;
};

/// Several normalizers one after the other.
class NormalizerSequence : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<std::unique_ptr<Normalizer>> parts) : parts_(std::move(parts)) {}

  void normalize(NormalizedText& text) const override {
    for (const auto& part : parts_) part->normalize(text);
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> parts_;
};

std::unique_ptr<Normalizer> from_function(std::function<void(NormalizedText&)> function) {
  return std::make_unique<FunctionNormalizer>(std::move(function));
}

std::unique_ptr<Normalizer> from_form(NormalizationForm form) {
  return from_function([form](NormalizedText& text) { normalize_form(text, form); });
}

std::unique_ptr<Normalizer> read_bert(const nlohmann::json& description) {
  bool lowercase = field<bool>(description, "lowercase");
  return std::make_unique<BertNormalizer>(
      BertNormalizerOptions{.clean_text = field<bool>(description, "clean_text"),
                            .handle_chinese_chars = field<bool>(description, "handle_chinese_chars"),
                            .strip_accents = optional_field<bool>(description, "strip_accents").value_or(lowercase),
                            .lowercase = lowercase});
}

std::unique_ptr<Normalizer> read_strip(const nlohmann::json& description) {
  bool left = field<bool>(description, "strip_left"), right = field<bool>(description, "strip_right");
  return from_function([left, right](NormalizedText& text) { strip(text, left, right); });
}

std::unique_ptr<Normalizer> read_prepend(const nlohmann::json& description) {
  auto prefix = field<std::string>(description, "prepend");
  return from_function([prefix](NormalizedText& text) { prepend(text, prefix); });
}

std::unique_ptr<Normalizer> read_normalizers(const nlohmann::json& description) {
  std::vector<std::unique_ptr<Normalizer>> parts;
  for (const auto& part : list_field(description, "normalizers")) {
    parts.push_back(read_normalizer(part));
  }
  return std::make_unique<NormalizerSequence>(std::move(parts));
}

}  // namespace

std::unique_ptr<Normalizer> read_replace(const nlohmann::json& description) {
  return std::make_unique<ReplaceNormalizer>(read_pattern(description), field<std::string>(description, "content"));
}

std::unique_ptr<Normalizer> read_normalizer(const nlohmann::json& description) {
  std::string type = component_type(description, "normalizer");
  if (type == "BertNormalizer") return read_bert(description);
  if (type == "ByteLevel") return from_function(to_byte_characters);
  if (type == "Lowercase") return from_function(to_lower_case);
  if (type == "NFC") return from_form(NormalizationForm::Nfc);
  if (type == "NFD") return from_form(NormalizationForm::Nfd);
  if (type == "NFKC") return from_form(NormalizationForm::Nfkc);
  if (type == "NFKD") return from_form(NormalizationForm::Nfkd);
  if (type == "Nmt") return from_function(clean_for_translation);
  if (type == "Precompiled") return read_precompiled(description);
  if (type == "Prepend") return read_prepend(description);
  if (type == "Replace") return read_replace(description);
  if (type == "Sequence") return read_normalizers(description);
  if (type == "Strip") return read_strip(description);
  if (type == "StripAccents") return from_function(strip_accents);
  fail_unknown_type("normalizer", type,
                    {"BertNormalizer", "ByteLevel", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled",
                     "Prepend", "Replace", "Sequence", "Strip", "StripAccents"});
}

}  // namespace transformers::tokenizers
