// The tokenizer as a whole: what it reads, what it refuses, and its threads.

#include "transformers/tokenizers/tokenizer.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"

using namespace transformers;
using nlohmann::json;

namespace {

using Ids = std::vector<uint32_t>;

json small_file() {
  json vocab = {{"[UNK]", 0}, {"[CLS]", 1}, {"[SEP]", 2}, {"play", 3},
                {"##ing", 4}, {"##s", 5},   {"chess", 6}, {"é", 7}};
  json special = {{"[CLS]", {{"id", "[CLS]"}, {"ids", {1}}, {"tokens", {"[CLS]"}}}},
                  {"[SEP]", {{"id", "[SEP]"}, {"ids", {2}}, {"tokens", {"[SEP]"}}}}};
  auto token = [](const char* id) { return json{{"SpecialToken", {{"id", id}, {"type_id", 0}}}}; };
  auto text = [](const char* id, int type) { return json{{"Sequence", {{"id", id}, {"type_id", type}}}}; };
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens",
           {{{"id", 1},
             {"content", "[CLS]"},
             {"single_word", false},
             {"lstrip", false},
             {"rstrip", false},
             {"normalized", false},
             {"special", true}}}},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"strip_accents", false},
            {"lowercase", true}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single", {token("[CLS]"), text("A", 0), token("[SEP]")}},
            {"pair", {token("[CLS]"), text("A", 0), token("[SEP]"), text("B", 1), token("[SEP]")}},
            {"special_tokens", special}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 10},
            {"vocab", vocab}}}};
}

Tokenizer small() { return Tokenizer::from_json(small_file().dump()); }

std::string error_of(const json& file) {
  try {
    Tokenizer::from_json(file.dump(), "x.json");
  } catch (const accelerate::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("words are cut into the longest entries, with the characters they stand for") {
  auto encoding = small().encode("Playing chess é!");
  CHECK(encoding.ids == Ids{1, 3, 4, 6, 7, 0, 2});
  CHECK(encoding.offsets[2] == std::pair<uint32_t, uint32_t>(4, 7));
  CHECK(encoding.offsets[4] == std::pair<uint32_t, uint32_t>(14, 15));
  CHECK(encoding.word_ids == std::vector<int32_t>{-1, 0, 0, 1, 2, 3, -1});
  CHECK(encoding.special_tokens_mask == Ids{1, 0, 0, 0, 0, 0, 1});
}

TEST_CASE("a word that is too long is unknown") { CHECK(small().encode("playingplay").ids == Ids{1, 0, 2}); }

TEST_CASE("an added token is found as it is written") {
  CHECK(small().encode("play[CLS]s", {.add_special_tokens = false}).ids == Ids{3, 1, 0});
}

TEST_CASE("a pair has the types and texts of its tokens") {
  auto encoding = small().encode("play", "chess");
  CHECK(encoding.ids == Ids{1, 3, 2, 6, 2});
  CHECK(encoding.type_ids == Ids{0, 0, 0, 1, 0});
  CHECK(encoding.sequence_ids == std::vector<int32_t>{-1, 0, -1, 1, -1});
}

TEST_CASE("decode joins the pieces of words and can leave special tokens out") {
  auto tokenizer = small();
  Ids ids = {1, 3, 4, 6, 99};
  CHECK(tokenizer.decode(ids) == "playing chess");
  CHECK(tokenizer.decode(ids, /*skip_special_tokens=*/false) == "[CLS] playing chess");
}

TEST_CASE("ids and entries are found both ways") {
  auto tokenizer = small();
  CHECK(tokenizer.token_to_id("##ing") == 4u);
  CHECK(*tokenizer.id_to_token(6) == "chess");
  CHECK(tokenizer.id_to_token(99) == nullptr);
  CHECK_FALSE(tokenizer.token_to_id("none"));
  CHECK(tokenizer.vocab_size() == 8);
  CHECK(tokenizer.tokens(tokenizer.encode("plays")) == std::vector<std::string>{"[CLS]", "play", "##s", "[SEP]"});
}

TEST_CASE("truncation counts the special tokens") {
  auto tokenizer = small();
  tokenizer.enable_truncation({.max_length = 4});
  auto encoding = tokenizer.encode("play chess play");
  CHECK(encoding.ids == Ids{1, 3, 6, 2});
  REQUIRE(encoding.overflowing.size() == 1);
  CHECK(encoding.overflowing[0].ids == Ids{1, 3, 2});
  CHECK_THROWS_AS(tokenizer.enable_truncation({.max_length = 1}), accelerate::Error);
}

TEST_CASE("truncation and padding of the file are in force until they are switched off") {
  auto file = small_file();
  file["truncation"] = {{"max_length", 3}, {"stride", 0}, {"strategy", "LongestFirst"}, {"direction", "Left"}};
  file["padding"] = {
      {"strategy", {{"Fixed", 6}}}, {"direction", "Right"}, {"pad_to_multiple_of", nullptr}, {"pad_id", 0},
      {"pad_type_id", 0},           {"pad_token", "[PAD]"}};
  auto tokenizer = Tokenizer::from_json(file.dump());
  CHECK(tokenizer.encode("play chess").ids == Ids{1, 6, 2, 0, 0, 0});
  tokenizer.no_padding();
  tokenizer.no_truncation();
  CHECK(tokenizer.encode("play chess").ids == Ids{1, 3, 6, 2});
}

TEST_CASE("a batch on several threads equals its texts one by one") {
  auto tokenizer = small();
  std::vector<std::string> texts;
  for (int number = 0; number < 500; ++number) texts.push_back(std::string(number % 7, 'x') + " playing chess é");
  auto batch = tokenizer.encode_batch(texts, {.threads = 4});
  REQUIRE(batch.size() == texts.size());
  for (size_t index = 0; index < texts.size(); ++index) {
    auto alone = tokenizer.encode(texts[index]);
    REQUIRE(batch[index].ids == alone.ids);
    REQUIRE(batch[index].offsets == alone.offsets);
  }
  CHECK(tokenizer.encode_batch(std::vector<std::string>{}).empty());
}

TEST_CASE("broken UTF-8 is an error with the text and the byte") {
  auto tokenizer = small();
  CHECK_THROWS_WITH_AS(tokenizer.encode("ab\xFF"), doctest::Contains("not UTF-8 at byte 2"), accelerate::Error);
  for (std::string broken : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    CHECK_THROWS_WITH_AS(tokenizer.encode(broken), doctest::Contains("at byte 0"), accelerate::Error);
  }
  std::vector<std::string> texts(40, "play");
  texts[33] = "play\xC3";
  CHECK_THROWS_WITH_AS(tokenizer.encode_batch(texts, {.threads = 2}), doctest::Contains("text 33: "),
                       accelerate::Error);
}

TEST_CASE("what is wrong in a file is named") {
  CHECK_THROWS_WITH_AS(Tokenizer::from_file("/no/such/file"), doctest::Contains("/no/such/file"), accelerate::Error);
  CHECK_THROWS_WITH_AS(Tokenizer::from_json("{\"model\": ", "x.json"), doctest::Contains("x.json: is not JSON"),
                       accelerate::Error);
  CHECK_THROWS_WITH_AS(Tokenizer::from_json("[]", "x.json"), doctest::Contains("no 'model'"), accelerate::Error);
  auto with = [](const char* part, const json& value) {
    auto file = small_file();
    file[part] = value;
    return error_of(file);
  };
  CHECK(with("normalizer", {{"type", "Shout"}}).find("'Shout' is unknown; it can be BertNormalizer, ") < 100);
  CHECK(with("pre_tokenizer", {{"type", "Shout"}}).find("BertPreTokenizer") != std::string::npos);
  CHECK(with("model", {{"type", "Shout"}}).find("WordPiece") != std::string::npos);
  CHECK(with("normalizer", {{"type", "Prepend"}}).find("'prepend' is missing") != std::string::npos);
  CHECK(with("pre_tokenizer", {{"type", "Digits"}, {"individual_digits", 3}}).find("individual_digits") < 100);
  json bad_regex = {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}, {"invert", false}};
  CHECK(with("pre_tokenizer", bad_regex).find("'(a'") != std::string::npos);
}

TEST_CASE("a model that does not say its type, as in older files, is known by its fields") {
  const json words = {{"[UNK]", 0}, {"p", 1}, {"##l", 2}, {"pl", 3}, {"l", 4}};
  const std::vector<std::pair<json, Ids>> models{
      {{{"vocab", words}, {"merges", {"p l"}}}, {3}},
      {{{"vocab", words}, {"merges", json::array()}, {"unk_token", "[UNK]"}}, {1, 4}},
      {{{"vocab", {{"[UNK]", 0}, {"p", 1}, {"##l", 2}}},
        {"unk_token", "[UNK]"},
        {"continuing_subword_prefix", "##"},
        {"max_input_chars_per_word", 100}},
       {1, 2}},
      {{{"vocab", words}, {"unk_token", "[UNK]"}}, {3}},
      {{{"vocab", {{"p", 1}, {"[UNK]", 0}}}, {"unk_token", "[UNK]"}, {"continuing_subword_prefix", "##"}}, {0}},
      {{{"vocab", json::parse(R"([["<unk>", 0.0], ["p", -1.0], ["l", -1.0]])")}, {"unk_id", 0}}, {1, 2}},
      {{{"vocab", json::parse(R"([["p", -2.0], ["l", -2.0], ["pl", -1.0]])")}}, {2}}};
  for (const auto& [model, ids] : models) {
    CAPTURE(model.dump());
    CHECK(Tokenizer::from_json(json{{"model", model}}.dump()).encode("pl").ids == ids);
  }
  for (const json& model : {json{{"vocab", words}}, json{{"unk_token", "[UNK]"}, {"type", nullptr}}, json::object()}) {
    CHECK(error_of({{"model", model}}).find("it must be an object with a 'type'") != std::string::npos);
  }
}

TEST_CASE("a part of a file that has another shape is named with the file") {
  auto with = [](const char* part, const json& value) {
    auto file = small_file();
    file[part] = value;
    return error_of(file);
  };
  CHECK(with("truncation", 5) == "x.json: 5 is used instead of an object with the field 'max_length'");
  CHECK(with("truncation", json::array()) == "x.json: [] is used instead of an object with the field 'max_length'");
  CHECK(with("padding", "x") == "x.json: \"x\" is used instead of an object with the field 'strategy'");
  CHECK(with("added_tokens", {1}).starts_with("x.json: 1 is used instead of an object"));
  CHECK(with("normalizer", {{"type", 3}}).starts_with("x.json: "));
  json piece = {{"Sequence", {{"id", 5}, {"type_id", 0}}}};
  json post_processor = {
      {"type", "TemplateProcessing"}, {"single", {piece}}, {"pair", {piece}}, {"special_tokens", json::object()}};
  CHECK(with("post_processor", post_processor).find("the field 'id' is 5; it must be a string") != std::string::npos);
}

TEST_CASE("a word that is unknown to a vocabulary without its unk_token is an error with the file and the word") {
  json words = {{"p", 0}, {"l", 1}};
  std::vector<json> models = {{{"type", "WordPiece"},
                               {"vocab", words},
                               {"unk_token", "[UNK]"},
                               {"continuing_subword_prefix", "##"},
                               {"max_input_chars_per_word", 100}},
                              {{"type", "WordLevel"}, {"vocab", words}, {"unk_token", "[UNK]"}}};
  for (const auto& model : models) {
    auto tokenizer = Tokenizer::from_json(json{{"model", model}}.dump(), "folder/tokenizer.json");
    CHECK(tokenizer.encode("p").ids == Ids{0});  // as in the package, all is well until such a word comes
    std::string message;
    try {
      tokenizer.encode("pq");
    } catch (const accelerate::Error& error) {
      message = error.what();
    }
    for (const char* part : {"folder/tokenizer.json: ", "'pq'", "unk_token '[UNK]'"}) {
      CAPTURE(message);
      CHECK(message.find(part) != std::string::npos);
    }
  }
}

TEST_CASE("a file that is nested without an end is refused") {
  std::string inner = R"({"type": "Sequence", "normalizers": [)", text = R"({"model": {}, "normalizer": )";
  for (int i = 0; i < 100'000; ++i) text += inner;
  CHECK_THROWS_WITH_AS(Tokenizer::from_json(text, "x.json"), "x.json: its JSON is nested more than 64 deep",
                       accelerate::Error);
  auto file = small_file();
  file["normalizer"] = {
      {"type", "Replace"}, {"pattern", {{"String", std::string(100, '[') + "\\\"{"}}}, {"content", ""}};
  CHECK(error_of(file).empty());
}

TEST_CASE("a vocab.txt makes BERT's tokenizer") {
  auto path = std::filesystem::temp_directory_path() / "accelerate_vocab_test.txt";
  std::ofstream(path) << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nplay\n##ing\nPlay\n";
  CHECK(Tokenizer::from_vocab(path).encode("Playing [MASK]").ids == Ids{2, 5, 6, 4, 3});
  CHECK(Tokenizer::from_vocab(path, {.lowercase = false}).encode("Playing").ids == Ids{2, 7, 6, 3});
  CHECK(Tokenizer::from_vocab(path).decode(Ids{2, 5, 6, 3}) == "playing");
  std::ofstream(path, std::ios::app) << "a\nä\nÄ\n中文\n";
  CHECK(Tokenizer::from_vocab(path).encode("Ä中文").ids == Ids{2, 8, 1, 1, 3});
  CHECK(Tokenizer::from_vocab(path, {.strip_accents = false}).encode("Ä").ids == Ids{2, 9, 3});
  CHECK(Tokenizer::from_vocab(path, {.lowercase = false}).encode("Ä").ids == Ids{2, 10, 3});
  CHECK(Tokenizer::from_vocab(path, {.lowercase = false, .strip_accents = true}).encode("ä").ids == Ids{2, 8, 3});
  CHECK(Tokenizer::from_vocab(path, {.tokenize_chinese_chars = false}).encode("中文").ids == Ids{2, 11, 3});
  std::ofstream(path) << "play\n";
  CHECK_THROWS_WITH_AS(Tokenizer::from_vocab(path), doctest::Contains("[SEP]"), accelerate::Error);
  std::filesystem::remove(path);
}
