// The table of a SentencePiece model: what it does to a text, and tables that are none.

#include "transformers/tokenizers/normalizers/normalizer.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "accelerate/base/base64.h"
#include "accelerate/base/error.h"

using namespace transformers::tokenizers;

namespace {

std::string bytes_of(const std::vector<uint32_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(uint32_t)};
}

/// A table that replaces the byte `from` by `to`.
std::string table(unsigned char from, const std::string& to) {
  std::vector<uint32_t> units(1024);
  units[0] = 256 << 10;
  units[256 ^ from] = from | 1 << 8 | 768 << 10;  // its value stands at 256 ^ from ^ 768
  return bytes_of({4096}) + bytes_of(units) + to + '\0';
}

std::unique_ptr<Normalizer> read(const std::string& bytes) {
  return read_precompiled({{"type", "Precompiled"}, {"precompiled_charsmap", accelerate::encode_base64(bytes)}});
}

std::string normalize(const Normalizer& normalizer, const std::string& original) {
  NormalizedText text(original);
  normalizer.normalize(text);
  return std::string(text.text());
}

}  // namespace

TEST_CASE("a short grapheme is replaced as a whole, a long one by character") {
  auto normalizer = read(table('q', "kw"));
  CHECK(normalize(*normalizer, "aqua q") == "akwua kw");
  CHECK(normalize(*normalizer, "q\u0301!") == "kw!");
  CHECK(normalize(*normalizer, "q\u0301\u0301\u0301!") == "kw\u0301\u0301\u0301!");
  CHECK(normalize(*normalizer, "").empty());
}

TEST_CASE("replaced and removed characters know where they came from") {
  std::string original = "aqb";
  NormalizedText text(original);
  read(table('q', "kw"))->normalize(text);
  CHECK(text.origin(1, 3) == Span{1, 2});
  CHECK(text.origin(3, 4) == Span{2, 3});
  text.reset(original);
  read(table('q', ""))->normalize(text);
  CHECK(text.text() == "ab");
  CHECK(text.origin(1, 2) == Span{2, 3});
}

TEST_CASE("bytes that are no table of replacements are an error") {
  CHECK_THROWS_WITH_AS(read(""), doctest::Contains("0 bytes"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read("abc"), doctest::Contains("3 bytes"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read(bytes_of({4000, 1})), doctest::Contains("8 bytes"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read(table('q', "\xFF")), doctest::Contains("UTF-8"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read_precompiled({{"type", "Precompiled"}, {"precompiled_charsmap", "a!b="}}),
                       doctest::Contains("base64"), accelerate::Error);
}

TEST_CASE("a table that points outside itself changes nothing") {
  std::vector<uint32_t> units(2, 0xFFFFFFFF);
  auto normalizer = read(bytes_of({8}) + bytes_of(units));
  CHECK(normalize(*normalizer, "any text, été") == "any text, été");
}
