#include "accelerate/base/base64.h"

#include <doctest/doctest.h>

#include <string>

using namespace accelerate;

TEST_CASE("base64 has the values of its standard") {
  CHECK(encode_base64("") == "");
  CHECK(encode_base64("f") == "Zg==");
  CHECK(encode_base64("fo") == "Zm8=");
  CHECK(encode_base64("foo") == "Zm9v");
  CHECK(encode_base64("foobar") == "Zm9vYmFy");
  CHECK(encode_base64("\xff\xfe") == "//4=");
}

TEST_CASE("base64 that is decoded gives the bytes that were encoded, at every length") {
  std::string bytes;
  for (int i = 0; i < 260; ++i) {
    CHECK(decode_base64(encode_base64(bytes)) == bytes);
    bytes.push_back(static_cast<char>(i));
  }
}

TEST_CASE("base64 without its padding or with other characters is refused") {
  for (const char* text : {"Zg", "Zg=", "Z===", "Zg==Zg==", "Zm9v\n", "Zm9*"})
    CHECK(decode_base64(text) == std::nullopt);
}
