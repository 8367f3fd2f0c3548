// What post-processors put around texts.

#include "transformers/tokenizers/post_processors/post_processor.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"

using namespace transformers::tokenizers;
using nlohmann::json;

namespace {

using Numbers = std::vector<uint32_t>;
using Offsets = std::vector<std::pair<uint32_t, uint32_t>>;

Encoding encoding_of(const Numbers& ids, uint32_t type_id) {
  Encoding encoding;
  for (uint32_t id : ids) {
    encoding.insert_special(encoding.size(), id, type_id);
    encoding.special_tokens_mask.back() = 0;
  }
  return encoding;
}

Encoding process(const json& description, std::vector<Encoding> encodings, bool add_special_tokens = true) {
  read_post_processor(description)->process(encodings, add_special_tokens);
  for (size_t i = 1; i < encodings.size(); ++i) encodings[0].append(encodings[i]);
  return encodings[0];
}

const json kBert = {{"type", "BertProcessing"}, {"sep", {"[SEP]", 102}}, {"cls", {"[CLS]", 101}}};

json special(const char* id, int type_id) { return {{"SpecialToken", {{"id", id}, {"type_id", type_id}}}}; }
json text(const char* id, int type_id) { return {{"Sequence", {{"id", id}, {"type_id", type_id}}}}; }

json template_processing() {
  return {{"type", "TemplateProcessing"},
          {"single", {special("[CLS]", 0), text("A", 0), special("[SEP]", 0)}},
          {"pair", {special("[CLS]", 0), text("A", 0), special("[SEP]", 0), text("B", 1), special("[SEP]", 1)}},
          {"special_tokens",
           {{"[CLS]", {{"id", "[CLS]"}, {"ids", {101}}, {"tokens", {"[CLS]"}}}},
            {"[SEP]", {{"id", "[SEP]"}, {"ids", {102, 103}}, {"tokens", {"[SEP]", "+"}}}}}}};
}

}  // namespace

TEST_CASE("BertProcessing puts one token first and one after each text") {
  auto single = process(kBert, {encoding_of({1, 2}, 0)});
  CHECK(single.ids == Numbers{101, 1, 2, 102});
  CHECK(single.special_tokens_mask == Numbers{1, 0, 0, 1});
  auto pair = process(kBert, {encoding_of({1}, 0), encoding_of({2}, 1)});
  CHECK(pair.ids == Numbers{101, 1, 102, 2, 102});
  CHECK(pair.type_ids == Numbers{0, 0, 0, 1, 1});
  CHECK(process(kBert, {encoding_of({1}, 0)}, false).ids == Numbers{1});
  CHECK(read_post_processor(kBert)->added_tokens(true) == 3);
}

TEST_CASE("templates place texts, special tokens and types as they say") {
  auto single = process(template_processing(), {encoding_of({1, 2}, 0)});
  CHECK(single.ids == Numbers{101, 1, 2, 102, 103});
  auto pair = process(template_processing(), {encoding_of({1}, 0), encoding_of({2}, 0)});
  CHECK(pair.ids == Numbers{101, 1, 102, 103, 2, 102, 103});
  CHECK(pair.type_ids == Numbers{0, 0, 0, 0, 1, 1, 1});
  CHECK(read_post_processor(template_processing())->added_tokens(false) == 3);
  CHECK(read_post_processor(template_processing())->added_tokens(true) == 5);
}

TEST_CASE("a template may use a text twice, or none") {
  auto description = template_processing();
  description["single"] = {text("A", 0), special("[CLS]", 2), text("A", 1)};
  auto twice = process(description, {encoding_of({1, 2}, 0)});
  CHECK(twice.ids == Numbers{1, 2, 101, 1, 2});
  CHECK(twice.type_ids == Numbers{0, 0, 2, 1, 1});
  description["single"] = {special("[CLS]", 0)};
  CHECK(process(description, {encoding_of({1}, 0)}).ids == Numbers{101});
}

TEST_CASE("special tokens stand in every overflowing window") {
  auto encoding = encoding_of({1, 2, 3, 4, 5}, 0);
  encoding.truncate(2, 0, Direction::Right);
  for (const json& description : {kBert, template_processing()}) {
    auto processed = process(description, {encoding});
    REQUIRE(processed.overflowing.size() == 2);
    CHECK(processed.overflowing[1].ids[0] == 101);
    CHECK(processed.overflowing[1].ids[1] == 5);
    CHECK(processed.overflowing[1].ids[2] == 102);
  }
}

TEST_CASE("RobertaProcessing and ByteLevel take white space out of the offsets") {
  auto encoding = encoding_of({1, 2, 3}, 1);
  encoding.offsets = {{0, 3}, {3, 6}, {6, 9}};
  encoding.spaces = {{1, 0}, {2, 0}, {0, 5}};
  json roberta = {{"type", "RobertaProcessing"},
                  {"sep", {"</s>", 2}},
                  {"cls", {"<s>", 0}},
                  {"trim_offsets", true},
                  {"add_prefix_space", true}};
  auto processed = process(roberta, {encoding});
  CHECK(processed.ids == Numbers{0, 1, 2, 3, 2});
  CHECK(processed.type_ids == Numbers(5, 0));
  CHECK(processed.offsets == Offsets{{0, 0}, {0, 3}, {5, 6}, {6, 6}, {0, 0}});

  json byte_level = {{"type", "ByteLevel"}, {"trim_offsets", true}, {"add_prefix_space", false}};
  json sequence = {{"type", "Sequence"}, {"processors", {template_processing(), byte_level}}};
  CHECK(process(sequence, {encoding}).offsets == Offsets{{0, 0}, {1, 3}, {5, 6}, {6, 6}, {0, 0}, {0, 0}});
  CHECK(read_post_processor(sequence)->needs_spaces());
  CHECK(read_post_processor(sequence)->added_tokens(false) == 3);
}

TEST_CASE("an empty text of a pair has a value of every column for its special tokens") {
  json roberta = {{"type", "RobertaProcessing"},
                  {"sep", {"</s>", 2}},
                  {"cls", {"<s>", 0}},
                  {"trim_offsets", true},
                  {"add_prefix_space", true}};
  auto text = encoding_of({5, 6}, 0);
  text.spaces = {{1, 0}, {1, 0}};
  for (const auto& pair : {std::vector{Encoding(), text}, std::vector{text, Encoding()}}) {
    auto processed = process(roberta, pair);
    CHECK(processed.size() == 6);
    CHECK(processed.spaces.size() == processed.size());
    processed.pad(8, 1, 0, Direction::Right);
    CHECK(processed.spaces.size() == 8);
  }
}

TEST_CASE("a template that asks for what there is not is an error when it is read") {
  auto description = template_processing();
  description["single"] = {text("B", 0)};
  CHECK_THROWS_WITH_AS(read_post_processor(description), doctest::Contains("single"), accelerate::Error);
  description["single"] = {special("[MASK]", 0)};
  CHECK_THROWS_WITH_AS(read_post_processor(description), doctest::Contains("[MASK]"), accelerate::Error);
  description["single"] = {json::object()};
  CHECK_THROWS_WITH_AS(read_post_processor(description), doctest::Contains("single"), accelerate::Error);
  CHECK_THROWS_WITH_AS(read_post_processor({{"type", "Prose"}}), doctest::Contains("TemplateProcessing"),
                       accelerate::Error);
}
