#include "transformers/tokenizers/text/pattern.h"

#include <oniguruma.h>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "accelerate/base/error.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/text/unicode.h"

namespace transformers::tokenizers {

using accelerate::fail;

namespace {

const OnigUChar* bytes_of(std::string_view text) { return reinterpret_cast<const OnigUChar*>(text.data()); }

/// Has Oniguruma take the classes of characters that `pattern` names from the reference implementation: the installed
/// version may know fewer characters. At most 20 classes can be defined; further ones are Oniguruma's own.
void define_classes(std::string_view pattern) {
  static std::map<std::string, std::vector<OnigCodePoint>> defined;  // Oniguruma holds on to them
  for (const auto& [name, ranges] : named_classes()) {
    bool is_named = pattern.find("{" + name + "}") != std::string_view::npos ||
                    pattern.find("{^" + name + "}") != std::string_view::npos;
    if (!is_named || defined.contains(name)) continue;
    auto& code_points = defined[name];
    code_points.push_back(static_cast<OnigCodePoint>(ranges.size()));
    for (auto [first, last] : ranges) code_points.insert(code_points.end(), {first, last});
    onig_unicode_define_user_property(name.c_str(), code_points.data());
  }
}

/// What stands for `\` and `letter`, with classes that define_classes knows.
std::string_view spelled_out(char letter, bool in_brackets) {
  if (letter == 'w') return in_brackets ? R"(\p{BracketedWord})" : R"(\p{Word})";
  if (letter == 'W') return in_brackets ? R"(\P{BracketedWord})" : R"(\P{Word})";
  if (letter == 'd') return R"(\p{Nd})";
  if (letter == 'D') return R"(\P{Nd})";
  if (in_brackets) return "";
  if (letter == 'b') return R"((?:(?<=\p{Word})(?!\p{Word})|(?<!\p{Word})(?=\p{Word})))";
  if (letter == 'B') return R"((?:(?<=\p{Word})(?=\p{Word})|(?<!\p{Word})(?!\p{Word})))";
  return "";
}

/// `pattern` with its classes by name.
std::string with_named_classes(std::string_view pattern) {
  std::string result;
  int brackets = 0;
  for (size_t position = 0; position < pattern.size(); ++position) {
    char character = pattern[position];
    if (character == '\\' && position + 1 < pattern.size()) {
      char letter = pattern[++position];
      std::string_view named = spelled_out(letter, brackets > 0);
      named.empty() ? result.append({'\\', letter}) : result.append(named);
      continue;
    }
    if (character == '[') ++brackets;
    if (character == ']' && brackets > 0) --brackets;
    result.push_back(character);
  }
  return result;
}

/// Compiles `pattern`. Oniguruma's table of classes belongs to the process, hence the lock.
regex_t* compile(const std::string& pattern, OnigErrorInfo& info, int& status) {
  static std::mutex compiling;
  std::lock_guard lock(compiling);
  OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
  onig_initialize(encodings, 1);
  define_classes(pattern);
  regex_t* compiled = nullptr;
  status = onig_new(&compiled, bytes_of(pattern), bytes_of(pattern) + pattern.size(), ONIG_OPTION_NONE,
                    ONIG_ENCODING_UTF8, ONIG_SYNTAX_ONIGURUMA, &info);
  return compiled;
}

std::string message_of(int status, OnigErrorInfo* info) {
  OnigUChar message[ONIG_MAX_ERROR_MESSAGE_LEN];
  int length =
      info == nullptr ? onig_error_code_to_str(message, status) : onig_error_code_to_str(message, status, info);
  return std::string(reinterpret_cast<const char*>(message), static_cast<size_t>(length));
}

}  // namespace

Regex::Regex(const std::string& pattern) {
  OnigErrorInfo info;
  int status = ONIG_NORMAL;
  regex_t* compiled = compile(with_named_classes(pattern), info, status);
  if (status != ONIG_NORMAL) fail("the regular expression '", pattern, "': ", message_of(status, &info));
  compiled_ = std::shared_ptr<void>(compiled, [](void* regex) { onig_free(static_cast<regex_t*>(regex)); });
}

std::optional<std::pair<size_t, size_t>> Regex::search(std::string_view text, size_t from) const {
  struct Region : OnigRegion {
    Region() { onig_region_init(this); }
    ~Region() { onig_region_free(this, /*free_self=*/0); }
  };
  thread_local Region region;
  const OnigUChar* begin = bytes_of(text);
  const OnigUChar* end = begin + text.size();
  int status =
      onig_search(static_cast<regex_t*>(compiled_.get()), begin, end, begin + from, end, &region, ONIG_OPTION_NONE);
  if (status == ONIG_MISMATCH) return std::nullopt;
  if (status < 0) fail("a regular expression gave up on a text: ", message_of(status, nullptr));
  return std::pair<size_t, size_t>(region.beg[0], region.end[0]);
}

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
