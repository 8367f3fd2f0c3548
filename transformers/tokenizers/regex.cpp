#include "transformers/tokenizers/regex.h"

#include <oniguruma.h>

#include <vector>

#include "accelerate/base/error.h"
#include "transformers/tokenizers/unicode.h"

namespace transformers::tokenizers {

using accelerate::fail;

namespace {

const OnigUChar* bytes_of(std::string_view text) { return reinterpret_cast<const OnigUChar*>(text.data()); }

/// Makes Oniguruma ready, with the classes of characters of the reference implementation in place of its own: the
/// installed version may know fewer characters.
void set_up_oniguruma() {
  static const bool done = [] {
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings, 1);
    static std::vector<std::vector<OnigCodePoint>> kept;  // Oniguruma holds on to them
    for (const auto& [name, ranges] : named_classes()) {
      auto& code_points = kept.emplace_back(1, static_cast<OnigCodePoint>(ranges.size()));
      for (auto [first, last] : ranges) code_points.insert(code_points.end(), {first, last});
      onig_unicode_define_user_property(name.c_str(), code_points.data());
    }
    return true;
  }();
  static_cast<void>(done);
}

/// \w and \d by the names of their classes, which set_up_oniguruma defines.
std::string with_named_classes(std::string_view pattern) {
  std::string result;
  for (size_t position = 0; position < pattern.size(); ++position) {
    char next = pattern[position] == '\\' && position + 1 < pattern.size() ? pattern[position + 1] : '\0';
    if (next == '\0') {
      result.push_back(pattern[position]);
      continue;
    }
    ++position;
    switch (next) {
      case 'w':
        result += "\\p{Word}";
        break;
      case 'W':
        result += "\\P{Word}";
        break;
      case 'd':
        result += "\\p{Digit}";
        break;
      case 'D':
        result += "\\P{Digit}";
        break;
      default:
        result.append({'\\', next});
    }
  }
  return result;
}

}  // namespace

Regex::Regex(const std::string& pattern) {
  set_up_oniguruma();
  std::string named = with_named_classes(pattern);
  regex_t* compiled = nullptr;
  OnigErrorInfo info;
  int status = onig_new(&compiled, bytes_of(named), bytes_of(named) + named.size(), ONIG_OPTION_NONE,
                        ONIG_ENCODING_UTF8, ONIG_SYNTAX_ONIGURUMA, &info);
  if (status != ONIG_NORMAL) {
    OnigUChar message[ONIG_MAX_ERROR_MESSAGE_LEN];
    onig_error_code_to_str(message, status, &info);
    fail("the regular expression '", pattern, "': ", reinterpret_cast<const char*>(message));
  }
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
  if (status < 0) {
    OnigUChar message[ONIG_MAX_ERROR_MESSAGE_LEN];
    onig_error_code_to_str(message, status);
    fail("a regular expression could not be searched for: ", reinterpret_cast<const char*>(message));
  }
  return std::pair<size_t, size_t>(region.beg[0], region.end[0]);
}

}  // namespace transformers::tokenizers
