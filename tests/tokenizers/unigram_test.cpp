// How the unigram model cuts texts: the best sum of scores, and characters that it does not know.

#include "transformers/tokenizers/models/unigram.h"

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "accelerate/base/error.h"

using namespace transformers::tokenizers;

namespace {

using Entries = std::vector<std::pair<std::string, double>>;

std::vector<std::string> parts_of(const Model& model, std::string_view text) {
  std::vector<Token> tokens;
  model.tokenize(text, tokens);
  std::vector<std::string> parts;
  for (const auto& token : tokens) parts.emplace_back(text.substr(token.begin, token.end - token.begin));
  return parts;
}

using Parts = std::vector<std::string>;

const Entries kEntries = {{"<unk>", 0}, {"a", 0},  {"b", 0},   {"c", 0},    {"d", 0},
                          {"cd", 1},    {"ab", 2}, {"abc", 5}, {"abcd", 10}};

}  // namespace

TEST_CASE("the cut with the best sum of scores wins, and neighbouring unknown characters are one token") {
  Unigram model(kEntries, 0, false);
  CHECK(parts_of(model, "abcdacdxx") == Parts{"abcd", "a", "cd", "xx"});
  CHECK(parts_of(model, "").empty());
  std::vector<Token> tokens;
  model.tokenize("a日本b", tokens);
  REQUIRE(tokens.size() == 3);
  CHECK(tokens[1].id == 0);
  CHECK(tokens[1].end == 7);
}

TEST_CASE("with byte_fallback unknown characters become their bytes, each of which stands for all of them") {
  auto entries = kEntries;
  entries.emplace_back("<0xC3>", -20);
  entries.emplace_back("<0xA4>", -20);
  Unigram model(entries, 0, true);
  std::vector<Token> tokens;
  model.tokenize("aä", tokens);
  REQUIRE(tokens.size() == 3);
  CHECK(tokens[1].id == 9);
  CHECK(tokens[2].id == 10);
  CHECK(tokens[1].begin == 1);
  CHECK(tokens[1].end == 3);
  CHECK(tokens[2].begin == 1);
  tokens.clear();
  model.tokenize("aö", tokens);
  REQUIRE(tokens.size() == 2);
  CHECK(tokens[1].id == 0);
}

TEST_CASE("a unigram model that does not hold together is an error") {
  CHECK_THROWS_WITH_AS(Unigram(kEntries, 9, false), doctest::Contains("unk_id"), accelerate::Error);
  Unigram no_unknown(kEntries, std::nullopt, false);
  CHECK(parts_of(no_unknown, "ab") == Parts{"ab"});
  std::vector<Token> tokens;
  CHECK_THROWS_WITH_AS(no_unknown.tokenize("x", tokens), doctest::Contains("'x'"), accelerate::Error);
  nlohmann::json broken = {{"type", "Unigram"}, {"vocab", {{"a", 0.5}, {"b"}}}};
  CHECK_THROWS_WITH_AS(read_unigram(broken), doctest::Contains("entry 1"), accelerate::Error);
}

TEST_CASE("the trie finds just the entries that a text begins with, the shortest first") {
  std::mt19937 generator(1);
  auto random_text = [&](size_t max_length) {
    std::string text;
    for (size_t length = generator() % max_length + 1; length > 0; --length) {
      text.push_back(static_cast<char>("ab\0\xFF\x80z"[generator() % 6]));
    }
    return text;
  };
  std::map<std::string, uint32_t> entries;
  for (uint32_t value = 0; value < 3000; ++value) entries[random_text(7)] = value;
  std::vector<std::pair<std::string_view, uint32_t>> list(entries.begin(), entries.end());
  PrefixTrie trie(list);
  for (int i = 0; i < 3000; ++i) {
    std::string text = random_text(10);
    std::vector<std::pair<size_t, uint32_t>> expected, found;
    for (size_t length = 1; length <= text.size(); ++length) {
      auto entry = entries.find(text.substr(0, length));
      if (entry != entries.end()) expected.emplace_back(length, entry->second);
    }
    trie.for_each_prefix(text, [&](size_t length, uint32_t value) { found.emplace_back(length, value); });
    REQUIRE(found == expected);
  }
  PrefixTrie().for_each_prefix(std::string_view("\0a", 2),
                               [](size_t, uint32_t) { FAIL("an empty trie has no entries"); });
}
