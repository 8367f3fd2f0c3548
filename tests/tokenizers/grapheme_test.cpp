// Which characters a reader takes for one.

#include "transformers/tokenizers/text/unicode.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace transformers::tokenizers;

namespace {

std::vector<std::string> graphemes(std::string_view text) {
  std::vector<std::string> parts;
  for (; !text.empty(); text.remove_prefix(parts.back().size())) {
    parts.emplace_back(text.substr(0, grapheme_bytes(text)));
  }
  return parts;
}

using Parts = std::vector<std::string>;

}  // namespace

TEST_CASE("marks, joiners and line ends belong to what they follow") {
  CHECK(graphemes("ae\u0301\u0323b") == Parts{"a", "e\u0301\u0323", "b"});
  CHECK(graphemes("\r\n\n\r") == Parts{"\r\n", "\n", "\r"});
  CHECK(graphemes("\n\u0301") == Parts{"\n", "\u0301"});
  CHECK(graphemes("\u0600a") == Parts{"\u0600a"});
  CHECK(graphemes("ก\u0E33") == Parts{"ก\u0E33"});
}

TEST_CASE("families are one emoji, flags are two letters") {
  CHECK(graphemes("👩\u200d👩\u200d👧👍🏽") == Parts{"👩\u200d👩\u200d👧", "👍🏽"});
  CHECK(graphemes("👩\u200da👩\u200d\u200d👩") == Parts{"👩\u200d", "a", "👩\u200d\u200d", "👩"});
  CHECK(graphemes("🇺🇦🇯🇵🇺") == Parts{"🇺🇦", "🇯🇵", "🇺"});
}

TEST_CASE("Hangul letters form syllables, and Indic consonants conjuncts") {
  CHECK(graphemes("\u1100\u1161\u11A8\u1100가\u11A8각\u1161") ==
        Parts{"\u1100\u1161\u11A8", "\u1100가\u11A8", "각", "\u1161"});
  CHECK(graphemes("क्षक") == Parts{"क्ष", "क"});
  CHECK(graphemes("कषक्a") == Parts{"क", "ष", "क्", "a"});
}
