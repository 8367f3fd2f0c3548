#include "accelerate/base/utf8.h"

#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <vector>

using namespace accelerate;

TEST_CASE("whole characters are counted in bytes, and what is none is found") {
  struct Case {
    std::string text;
    size_t bytes;
  };
  for (const auto& [text, bytes] : std::vector<Case>{{"a", 1},
                                                     {std::string(1, '\0'), 1},
                                                     {"\xC3\xA9t", 2},
                                                     {"\xE2\x82\xAC", 3},
                                                     {"\xF0\x9F\x98\x80", 4},
                                                     {"\xF4\x8F\xBF\xBF", 4},
                                                     {"", 0},
                                                     {"\x80", 0},
                                                     {"\xC3", 0},
                                                     {"\xC3t", 0},
                                                     {"\xC0\xAF", 0},
                                                     {"\xE0\x80\xAF", 0},
                                                     {"\xED\xA0\x80", 0},
                                                     {"\xF4\x90\x80\x80", 0},
                                                     {"\xF5\x80\x80\x80", 0},
                                                     {"\xFF", 0}}) {
    CHECK(utf8_character_bytes(text) == bytes);
  }
}

TEST_CASE("broken bytes are replaced one by one, and the rest stays") {
  CHECK(replace_broken_utf8("caf\xC3\xA9") == "caf\xC3\xA9");
  CHECK(replace_broken_utf8("a\xFFz\xC3") == "a\xEF\xBF\xBDz\xEF\xBF\xBD");
  CHECK(replace_broken_utf8("") == "");
}

TEST_CASE("a text is cut between characters") {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC";  // of one, two and three bytes
  const size_t whole[] = {0, 1, 1, 3, 3, 3, 6, 6};
  for (size_t bytes = 0; bytes < std::size(whole); ++bytes) CHECK(first_utf8_bytes(text, bytes).size() == whole[bytes]);
}
