#include "transformers/tokenizers/replace_normalizer.h"

#include <string>
#include <utility>

#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/pattern.h"

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

}  // namespace

std::unique_ptr<Normalizer> read_replace(const nlohmann::json& description) {
  return std::make_unique<ReplaceNormalizer>(read_pattern(description), field<std::string>(description, "content"));
}

}  // namespace transformers::tokenizers
