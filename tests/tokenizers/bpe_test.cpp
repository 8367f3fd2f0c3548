// How BPE cuts words: merges in their order, marks inside and at the end of words, and characters that it does not
// know.

#include "transformers/tokenizers/models/bpe.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "accelerate/base/error.h"

using namespace transformers::tokenizers;
using nlohmann::json;

namespace {

json small_model() {
  return {{"type", "BPE"},
          {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}, {"ab", 3}, {"abc", 4}, {"bc", 5}, {"<unk>", 6}, {"é", 7}}},
          {"merges", {"b c", "a b", "ab c"}}};
}

std::vector<uint32_t> ids_of(const Model& model, std::string_view text) {
  std::vector<Token> tokens;
  model.tokenize(text, tokens);
  std::vector<uint32_t> ids;
  for (const auto& token : tokens) ids.push_back(token.id);
  return ids;
}

using Ids = std::vector<uint32_t>;

/// What is left of `symbols` when the best pair is looked for anew each time.
std::vector<uint32_t> merge_slowly(const Merges& merges, std::vector<uint32_t> ids) {
  while (true) {
    size_t best = 0;
    Merge merge;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      Merge here = merges.find(ids[i], ids[i + 1]);
      if (here.rank < merge.rank) best = i, merge = here;
    }
    if (merge.rank == Merge::kNever) return ids;
    ids[best] = merge.id;
    ids.erase(ids.begin() + best + 1);
  }
}

}  // namespace

TEST_CASE("the pair of the lowest rank merges first") {
  auto model = read_bpe(small_model());
  CHECK(ids_of(*model, "abc") == Ids{0, 5});
  CHECK(ids_of(*model, "abab") == Ids{3, 3});
  CHECK(ids_of(*model, "").empty());
}

TEST_CASE("merges may be pairs instead of texts") {
  auto description = small_model();
  description["merges"] = json::array({json::array({"a", "b"}), json::array({"ab", "c"})});
  CHECK(ids_of(*read_bpe(description), "abc") == Ids{4});
}

TEST_CASE("words of any length merge as if the best pair were looked for anew each time") {
  Merges merges(200);
  std::mt19937 generator(1);
  for (uint32_t rank = 0; rank < 200; ++rank) {
    merges.set(generator() % (8 + rank), generator() % (8 + rank), {rank, 8 + rank});
  }
  for (size_t length : {0, 1, 2, 3, 39, 40, 41, 42, 200, 1000}) {
    std::vector<Symbol> symbols(length);
    std::vector<uint32_t> expected;
    for (auto& symbol : symbols) {
      symbol = {static_cast<uint32_t>(generator() % 8), 1};
      expected.push_back(symbol.id);
    }
    merge_symbols(merges, symbols);
    std::vector<uint32_t> ids;
    size_t bytes = 0;
    for (const auto& symbol : symbols) {
      ids.push_back(symbol.id);
      bytes += symbol.bytes;
    }
    CHECK(ids == merge_slowly(merges, expected));
    CHECK(bytes == length);
  }
}

TEST_CASE("an unknown character is left out, or becomes the unknown token, fused or not") {
  auto description = small_model();
  CHECK(ids_of(*read_bpe(description), "axyb") == Ids{3});
  description["unk_token"] = "<unk>";
  CHECK(ids_of(*read_bpe(description), "axyb") == Ids{0, 6, 6, 1});
  description["fuse_unk"] = true;
  auto fused = read_bpe(description);
  CHECK(ids_of(*fused, "axyb") == Ids{0, 6, 1});
  std::vector<Token> tokens;
  fused->tokenize("a日本b", tokens);
  REQUIRE(tokens.size() == 3);
  CHECK(tokens[1].begin == 1);
  CHECK(tokens[1].end == 7);
}

TEST_CASE("with byte_fallback an unknown character becomes its bytes, if all of them have tokens") {
  auto description = small_model();
  description["unk_token"] = "<unk>";
  description["byte_fallback"] = true;
  description["vocab"]["<0xC3>"] = 10;
  description["vocab"]["<0xA4>"] = 11;
  auto model = read_bpe(description);
  CHECK(ids_of(*model, "ä") == Ids{10, 11});
  CHECK(ids_of(*model, "ö") == Ids{6});
}

TEST_CASE("characters inside and at the end of a word carry their marks") {
  json description = {{"type", "BPE"},
                      {"vocab", {{"a", 0}, {"##a", 1}, {"##a</w>", 2}, {"a</w>", 3}, {"aa", 4}, {"aa</w>", 5}}},
                      {"merges", {"a ##a</w>"}},
                      {"continuing_subword_prefix", "##"},
                      {"end_of_word_suffix", "</w>"}};
  auto model = read_bpe(description);
  CHECK(ids_of(*model, "a") == Ids{3});
  CHECK(ids_of(*model, "aa") == Ids{5});
  CHECK(ids_of(*model, "aaa") == Ids{0, 1, 2});
}

TEST_CASE("with ignore_merges a word of the vocabulary is one token") {
  auto description = small_model();
  description["ignore_merges"] = true;
  CHECK(ids_of(*read_bpe(description), "abc") == Ids{4});
}

TEST_CASE("two models on one thread do not see each other's words") {
  auto description = small_model();
  auto first = read_bpe(description);
  description["merges"] = json::array();
  auto second = read_bpe(description);
  for (int repeat = 0; repeat < 2; ++repeat) {
    CHECK(ids_of(*first, "ab") == Ids{3});
    CHECK(ids_of(*second, "ab") == Ids{0, 1});
  }
}

TEST_CASE("a BPE model that does not hold together is an error that says where") {
  auto changed = [](const char* name, json value) {
    auto description = small_model();
    description[name] = std::move(value);
    return description;
  };
  CHECK_THROWS_WITH_AS(read_bpe(changed("merges", {"a z"})), doctest::Contains("'z'"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read_bpe(changed("merges", {"c a"})), doctest::Contains("'ca'"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read_bpe(changed("merges", {"a b c"})), doctest::Contains("a b c"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read_bpe(changed("dropout", 0.1)), doctest::Contains("dropout"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read_bpe(changed("vocab", {{"a", -1}})), doctest::Contains("'a'"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read_bpe(changed("fuse_unk", "yes")), doctest::Contains("fuse_unk"), accelerate::Error);
  CHECK_NOTHROW(read_bpe(changed("dropout", 0.0)));
  auto no_unknown = read_bpe(changed("unk_token", "[UNK]"));
  std::vector<Token> tokens;
  CHECK_THROWS_WITH_AS(no_unknown->tokenize("x", tokens), doctest::Contains("[UNK]"), accelerate::Error);
}
