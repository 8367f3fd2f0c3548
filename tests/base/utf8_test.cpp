#include "accelerate/base/utf8.h"

#include <doctest/doctest.h>

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
