#include "notebook/kernel/worker_process.h"

#include <doctest/doctest.h>

using namespace accelerate::notebook;

TEST_CASE("A character that comes in two pieces is shown when it is whole") {
  TextStream stream;
  CHECK(stream.add("a\xe2\x96") == "a");
  CHECK(stream.add("\x88"
                   "b") ==
        "\xe2\x96\x88"
        "b");
  CHECK(stream.add("\xc3") == "");
  CHECK(stream.add("\xa4") == "\xc3\xa4");
  CHECK(stream.add("\xf0\x9f\x98") == "");
  CHECK(stream.add("\x80") == "\xf0\x9f\x98\x80");
}

TEST_CASE("Places in a text count characters for Jupyter and bytes for the compiler") {
  std::string_view text =
      "a\xc3\xa4"
      "b";
  CHECK(byte_of_character(text, 0) == 0);
  CHECK(byte_of_character(text, 2) == 3);
  CHECK(byte_of_character(text, 9) == 4);
  CHECK(character_of_byte(text, 3) == 2);
  CHECK(character_of_byte(text, 4) == 3);
}
