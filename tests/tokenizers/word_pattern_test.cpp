// The patterns that run without a regex engine equal the engine's matches.

#include "transformers/tokenizers/text/word_pattern.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "transformers/tokenizers/text/pattern.h"

using namespace transformers::tokenizers;

namespace {

using Matches = std::vector<std::pair<size_t, size_t>>;

Matches by_engine(const Regex& regex, std::string_view text) {
  Matches matches;
  for_each_match(regex, text, [&](size_t begin, size_t end, bool) { matches.emplace_back(begin, end); });
  return matches;
}

Matches by_hand(const WordPattern& pattern, std::string_view text) {
  Matches matches;
  for (size_t begin = 0, end; begin < text.size(); begin = end) {
    end = pattern.match(text, begin);
    matches.emplace_back(begin, end);
  }
  return matches;
}

}  // namespace

TEST_CASE("words are found where the regular expression finds them") {
  const std::string middle = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  const std::string begin = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)";
  const std::vector<std::string> parts = {"a", "B",      "é",  "'",      "'s",         "'LL", "'\u017F",
                                          "7", "\u0663", " ",  "\n",     "\r",         "\t",  "\u2003",
                                          ".", "!",      "中", "\u0301", "\U0001F600", "-"};
  for (const std::string& expression :
       {std::string(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"),
        begin + R"(\p{N}{1,3})" + middle, begin + R"(\p{N})" + middle}) {
    auto pattern = WordPattern::recognize(expression);
    REQUIRE(pattern);
    Regex regex(expression);
    std::mt19937 random(1);
    for (int round = 0; round < 4000; ++round) {
      std::string text;
      for (size_t count = random() % 12; count > 0; --count) text += parts[random() % parts.size()];
      REQUIRE_MESSAGE(by_hand(*pattern, text) == by_engine(regex, text), text);
    }
  }
}

TEST_CASE("another expression is left to the engine") { CHECK_FALSE(WordPattern::recognize(R"(\p{L}+)")); }
