#include "transformers/tokenizers/pattern.h"

#include <utility>

#include "transformers/tokenizers/description.h"

namespace transformers::tokenizers {

Pattern Pattern::literal(std::string text) {
  if (text.empty()) return regex("");  // it stands between any two characters
  Pattern pattern;
  pattern.literal_ = std::move(text);
  return pattern;
}

Pattern Pattern::regex(const std::string& expression) {
  Pattern pattern;
  pattern.words_ = WordPattern::recognize(expression);
  if (!pattern.words_) pattern.regex_.emplace(expression);
  return pattern;
}

Pattern read_pattern(const nlohmann::json& description) {
  const auto& pattern = object_field(description, "pattern");
  if (auto text = optional_field<std::string>(pattern, "String")) return Pattern::literal(*std::move(text));
  if (auto expression = optional_field<std::string>(pattern, "Regex")) return Pattern::regex(*expression);
  fail_field(description, "pattern", "an object with a string as 'String' or 'Regex'");
}

}  // namespace transformers::tokenizers
