// What decoders make of tokens.

#include "transformers/tokenizers/decoders/decoder.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"

using namespace transformers::tokenizers;
using nlohmann::json;

namespace {

using Parts = std::vector<std::string>;

Parts decode(const json& description, Parts tokens) {
  return read_decoder(description)->decode_chain(std::move(tokens));
}

}  // namespace

TEST_CASE("WordPiece puts spaces between words and tidies punctuation up") {
  json description = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  CHECK(decode(description, {"##uelo", "Ara", "##új", "##o", "No", "##guera", "!"}) ==
        Parts{"##uelo", " Ara", "új", "o", " No", "guera", "!"});
  description["cleanup"] = false;
  CHECK(decode(description, {"a", "!"}) == Parts{"a", " !"});
  CHECK(decode(description, {}).empty());
}

TEST_CASE("BPEDecoder ends words with a space, but for the last one") {
  json description = {{"type", "BPEDecoder"}, {"suffix", "</w>"}};
  CHECK(decode(description, {"a", "b</w>", "c</w>"}) == Parts{"a", "b ", "c"});
  CHECK(decode({{"type", "BPEDecoder"}, {"suffix", ""}}, {"aé", "b"}) == Parts{" a é ", "b"});
}

TEST_CASE("ByteLevel joins characters that are spread over tokens, and marks what is none") {
  json description = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}};
  CHECK(decode(description, {"ĠH", "Ã", "¤", "!"}) == Parts{" Hä!"});
  CHECK(decode(description, {"Ã", "!"}) == Parts{"\uFFFD!"});
  CHECK(decode(description, {"ð", "Ł", "ĺ", "x"}) == Parts{"\uFFFDx"});
  CHECK(decode(description, {"í", "ł", "Ģ"}) == Parts{"\uFFFD\uFFFD\uFFFD"});
  CHECK(decode(description, {"[日本]"}) == Parts{"[日本]"});
}

TEST_CASE("ByteFallback reads runs of byte tokens, all or nothing") {
  json description = {{"type", "ByteFallback"}};
  CHECK(decode(description, {"<0xE5>", "<0x8f>", "<0xab>", "a"}) == Parts{"叫", "a"});
  CHECK(decode(description, {"<0xE5>", "<0x8f>", "a", "<0x61>"}) == Parts{"\uFFFD", "\uFFFD", "a", "a"});
  CHECK(decode(description, {"<0xzz>", "<0x>"}) == Parts{"<0xzz>", "<0x>"});
}

TEST_CASE("CTC drops repetitions and padding") {
  json description = {{"type", "CTC"}, {"pad_token", "<pad>"}, {"word_delimiter_token", "|"}, {"cleanup", true}};
  CHECK(decode(description, {"<pad>", "h", "h", "<pad>", "e", "|", "l", "<pad>", "l"}) ==
        Parts{"h", "e", " ", "l", "l"});
}

TEST_CASE("Metaspace turns the sign into spaces, but for the one before the text") {
  json description = {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}};
  CHECK(decode(description, {"▁a", "▁b▁"}) == Parts{"a", " b "});
  description["prepend_scheme"] = "never";
  CHECK(decode(description, {"▁a"}) == Parts{" a"});
  description["prepend_scheme"] = "often";
  CHECK_THROWS_WITH_AS(read_decoder(description), doctest::Contains("prepend_scheme"), accelerate::Error);
}

TEST_CASE("Replace, Fuse and Strip work one after the other in a Sequence") {
  json strip = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 1}};
  json replace = {{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}};
  CHECK(decode({{"type", "Sequence"}, {"decoders", {replace, {{"type", "Fuse"}}, strip}}}, {"▁▁a", "▁b▁"}) ==
        Parts{" a b"});
  CHECK(decode(strip, {" ", "", "  a  "}) == Parts{"", "", " a "});
  replace["pattern"] = {{"Regex", "[0-9]+"}};
  CHECK(decode(replace, {"a12b3"}) == Parts{"a b "});
}

TEST_CASE("a decoder that is not known is an error that lists those that are") {
  CHECK_THROWS_WITH_AS(read_decoder({{"type", "Morse"}}), doctest::Contains("'Morse'"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read_decoder({{"type", "Morse"}}), doctest::Contains("ByteFallback"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read_decoder(json::array()), doctest::Contains("decoder"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read_decoder({{"type", "WordPiece"}, {"prefix", 3}, {"cleanup", true}}),
                       doctest::Contains("prefix"), accelerate::Error);
}
