#include "transformers/text/text_dataset.h"

#include <filesystem>
#include <fstream>
#include <random>

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "tests/text/temporary_file.h"

using accelerate::Error;
using accelerate::tests::TemporaryFile;
using namespace transformers;

namespace {

std::vector<LabelledText> rows_of(const TextDataset& dataset) { return {dataset.begin(), dataset.end()}; }

/// The field in quotes, as RFC 4180 wants it.
std::string in_quotes(const std::string& field) {
  std::string text = "\"";
  for (char c : field) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

}  // namespace

TEST_CASE("rows are read from every format, with columns by name") {
  const std::vector<LabelledText> wanted{{.text = "good film", .label = 1}, {.text = "höllisch, \"leer\"", .label = 0}};
  for (const auto& [name, content] : std::vector<std::pair<std::string, std::string>>{
           {"a.tsv", "id\tlabel\ttext\n7\t1\tgood film\n8\t0\thöllisch, \"leer\"\n"},
           {"a.csv", "text,label\ngood film,1\n\"höllisch, \"\"leer\"\"\",0\n"},
           {"a.jsonl",
            "{\"text\": \"good film\", \"label\": 1}\n{\"label\": false, \"text\": \"h\\u00f6llisch, "
            "\\\"leer\\\"\"}\n"},
       }) {
    CAPTURE(name);
    TemporaryFile file(name, content);
    CHECK(rows_of(TextDataset(file.path())) == wanted);
  }
}

TEST_CASE("columns are found by their place where there is no header, and pairs have a second text") {
  TemporaryFile file("pairs.tsv", "0\ta\tb\n1\tc\td\n");
  TextDataset dataset(file.path(), {.text = 1, .text_pair = 2, .label = 0, .header = false});
  CHECK(rows_of(dataset) == std::vector<LabelledText>{{.text = "a", .text_pair = "b", .label = 0},
                                                      {.text = "c", .text_pair = "d", .label = 1}});
}

TEST_CASE("words become labels in the order of their names") {
  TemporaryFile file("sms.txt", "kind\ttext\nspam\twin!\nham\thello\n");
  TextDataset dataset(file.path(), {.label = "kind", .label_names = {"ham", "spam"}, .format = TextFormat::Tsv});
  CHECK(dataset[0].label == 1);
  CHECK(dataset[1].label == 0);
}

TEST_CASE("line ends of Windows, a byte order mark and empty lines leave no trace") {
  const std::vector<LabelledText> wanted{{.text = "a", .label = 1}, {.text = "b", .label = 0}};
  TemporaryFile tsv("a.tsv", "\xEF\xBB\xBFlabel\ttext\r\n1\ta\r\n\r\n0\tb");
  TemporaryFile csv("a.csv", "\xEF\xBB\xBFlabel,text\r\n1,\"a\"\r\n\n0,b\r\n");
  TemporaryFile json("a.jsonl", "\n{\"label\":1,\"text\":\"a\"}\r\n \n{\"label\":0,\"text\":\"b\"}");
  for (auto* file : {&tsv, &csv, &json}) {
    CAPTURE(file->path().string());
    CHECK(rows_of(TextDataset(file->path())) == wanted);
  }
}

TEST_CASE("fields of CSV may hold separators, quotes and line ends, alone and in any mixture") {
  std::mt19937 random(1);
  const std::vector<std::string> parts{"a", ",", "\"", "\n", "\r\n", " ", "\t", "ü", "\"\"", ""};
  std::vector<LabelledText> rows;
  std::string content = "text,label,pair\n";
  for (int i = 0; i < 500; ++i) {
    std::string first, second;
    for (int j = 0; j < 6; ++j) first += parts[random() % parts.size()];
    for (int j = 0; j < 3; ++j) second += parts[random() % parts.size()];
    rows.push_back({.text = first, .text_pair = second, .label = i % 3});
    content += in_quotes(first) + "," + std::to_string(i % 3) + "," + in_quotes(second) + "\n";
  }
  TemporaryFile file("mixed.csv", content);
  CHECK(rows_of(TextDataset(file.path(), {.text_pair = "pair", .num_labels = 3})) == rows);
}

TEST_CASE("numbers of any kind are read for regression") {
  TemporaryFile file("a.tsv", "text\tstars\na\t3.5\nb\t-1e-2\nc\t4\n");
  TextDataset dataset(file.path(), {.label = "stars", .regression = true});
  CHECK(rows_of(dataset) == std::vector<LabelledText>{{.text = "a", .number = 3.5},
                                                      {.text = "b", .number = -0.01},
                                                      {.text = "c", .number = 4}});
  TemporaryFile lines("a.jsonl", "{\"text\": \"a\", \"label\": 3.5}\n{\"text\": \"b\", \"label\": -1e-7}\n");
  CHECK(rows_of(TextDataset(lines.path(), {.regression = true})) ==
        std::vector<LabelledText>{{.text = "a", .number = 3.5}, {.text = "b", .number = -1e-7}});
}

TEST_CASE("a text may have several labels, as a list of 0 and 1 or of names") {
  const std::vector<LabelledText> wanted{{.text = "a", .labels = {1, 0, 1}}, {.text = "b", .labels = {0, 0, 0}}};
  TemporaryFile lines("a.jsonl",
                      "{\"text\": \"a\", \"label\": [1, 0.0, true]}\n{\"text\": \"b\", \"label\": [0, 0, 0]}\n");
  CHECK(rows_of(TextDataset(lines.path(), {.multi_label = true, .num_labels = 3})) == wanted);
  TemporaryFile csv("a.csv", "text,label\na,\"[1, 0, 1]\"\nb,\"[0,0,0]\"\n");
  CHECK(rows_of(TextDataset(csv.path(), {.multi_label = true})) == wanted);
  TemporaryFile names("b.jsonl",
                      "{\"text\": \"a\", \"label\": [\"sad\", \"new\"]}\n{\"text\": \"b\", \"label\": []}\n");
  CHECK(rows_of(TextDataset(names.path(), {.label_names = {"new", "long", "sad"}, .multi_label = true})) == wanted);
}

TEST_CASE("a streamed data set gives the same rows in every walk") {
  TemporaryFile file("a.csv", "text,label\na,0\n\"b\nc\",1\nd,0\n");
  StreamedTextDataset streamed(file.path(), {.max_rows = 2});
  static_assert(std::ranges::input_range<StreamedTextDataset>);
  for (int walk = 0; walk < 2; ++walk) {
    std::vector<LabelledText> rows;
    for (const auto& row : streamed) rows.push_back(row);
    CHECK(rows == rows_of(TextDataset(file.path(), {.max_rows = 2})));
    CHECK(rows.size() == 2);
  }
}

TEST_CASE("every mistake in a file is told with the file and the line") {
  struct Mistake {
    std::string name, content, message;
    TextDatasetOptions options = {};
  };
  for (const auto& mistake : std::vector<Mistake>{
           {"a.tsv",
            "label\ttext\n1\tgood\n0\tb\xFF"
            "d\n",
            ":3: byte 4 of the line is not UTF-8"},
           {"a.jsonl", "{\"text\": \"\xC3\", \"label\": 1}", ":1: byte 11 of the line is not UTF-8"},
           {"a.tsv", "label\ttext\n1\n", ":2: the row has 1 fields; the first row has 2"},
           {"a.tsv", "label\ttext\n1\ta\tb\n", ":2: the row has 3 fields; the first row has 2"},
           {"a.tsv", "class\ttext\n1\ta\n", ":1: there is no column 'label'; there are: 'class', 'text'"},
           {"a.tsv", "1\ta\n", "by name, but the option header says", {.header = false}},
           {"a.tsv",
            "1\ta\n",
            ":1: there is no column 2; the row has 2 fields",
            {.text = 2, .label = 0, .header = false}},
           {"a.tsv", "label\ttext\n\n1.5\ta\n", ":3: the label is '1.5'; it must be a whole number"},
           {"a.tsv", "label\ttext\nwarm\ta\n", ":2: the label is 'warm'; it must be a number", {.regression = true}},
           {"a.tsv", "label\ttext\nnan\ta\n", ":2: the label is 'nan'; it must be a number", {.regression = true}},
           {"a.tsv", "label\ttext\n1.5x\ta\n", "'1.5x'; it must be a number", {.regression = true}},
           {"a.tsv", "label\ttext\n\ta\n", ":2: the label is ''; it must be a whole number"},
           {"a.tsv", "label\ttext\n99999999999999999999\ta\n", "it must be a whole number"},
           {"a.tsv", "label\ttext\n-1\ta\n", ":2: the label is '-1'; labels are numbered from 0"},
           {"a.tsv", "label\ttext\n2\ta\n", ":2: the label is '2'; there are 2 labels, 0 to 1", {.num_labels = 2}},
           {"a.tsv",
            "label\ttext\nhamm\ta\n",
            ":2: the label is 'hamm'; it can be ham, spam",
            {.label_names = {"ham", "spam"}}},
           {"a.tsv", "", "the file is empty"},
           {"a.tsv", "label\ttext\n", "there are no rows in the file"},
           {"a.jsonl", "\n", "there are no rows in the file"},
           {"a.csv", "label,text\n1,\"a\nb\n", ":2: a quoted field of this row has no closing quote"},
           {"a.csv", "label,text\n1,\"a\nb\"c\n", ":3: 'c' follows the closing quote of a field"},
           {"a.jsonl", "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"a\"", ":2: this is not JSON"},
           {"a.jsonl", "[1, 2]", ":1: this is not a JSON object"},
           {"a.jsonl", "{\"text\": \"a\"}", ":1: the object has no 'label'; it has: 'text'"},
           {"a.jsonl", "{\"text\": [\"a\"], \"label\": 1}", ":1: 'text' is array; it can be a string or a number"},
           {"a.jsonl", "{\"text\": \"a\", \"label\": [1]}", ":1: 'label' is array; it can be a string or a number"},
           {"a.jsonl", "{\"text\": [\"a\"], \"label\": [1]}", ":1: 'text' is array", {.multi_label = true}},
           {"a.jsonl",
            "{\"text\": \"a\", \"label\": " + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}",
            ":1: 'label' is a list with lists or objects in it",
            {.multi_label = true}},
           {"a.jsonl", "{\"text\": \"a\", \"label\": 1}", "the label is '1'; it must be a list", {.multi_label = true}},
           {"a.jsonl",
            "{\"text\": \"a\", \"label\": [0, 2]}",
            ":1: the label is '[0,2]'; a list of labels contains 0 and 1",
            {.multi_label = true}},
           {"a.jsonl",
            "{\"text\": \"a\", \"label\": [\"warm\"]}",
            "each can be hot, cold",
            {.label_names = {"hot", "cold"}, .multi_label = true}},
           {"a.tsv",
            "label\ttext\n[0, 1]\ta\n[1]\tb\n",
            ":3: the label is '[1]'; it must have the same number of labels as the first row, 2",
            {.multi_label = true}},
           {"a.tsv",
            "label\ttext\n[0, 1]\ta\n",
            "it must have the same number of labels as num_labels, 3",
            {.multi_label = true, .num_labels = 3}},
           {"a.tsv", "label\ttext\n[]\ta\n", "the label is '[]'; it must have a 0 or a 1", {.multi_label = true}},
           {"a.tsv", "label\ttext\n", "exclude each other", {.regression = true, .multi_label = true}},
           {"a.jsonl", "{\"text\": \"a\", \"label\": 1.5}", ":1: the label is '1.5'; it must be a whole number"},
           {"a.jsonl", "{}", "by number; JSON has only names", {.text = 0}},
           {"a.xml", "<a/>", "the format of '.xml' is unknown"},
       }) {
    CAPTURE(mistake.content);
    TemporaryFile file(mistake.name, mistake.content);
    CHECK_THROWS_WITH_AS(TextDataset(file.path(), mistake.options), doctest::Contains(mistake.message.c_str()), Error);
    CHECK_THROWS_WITH_AS(TextDataset(file.path(), mistake.options), doctest::Contains(file.path().c_str()), Error);
  }
  CHECK_THROWS_WITH_AS(TextDataset("nowhere/a.tsv"), "nowhere/a.tsv: cannot be read: No such file or directory", Error);
  CHECK_THROWS_WITH_AS(TextDataset("/tmp", {.format = TextFormat::Csv}), "/tmp: is a directory; give a file", Error);
  CHECK_THROWS_WITH_AS(StreamedTextDataset("nowhere/a.tsv"), doctest::Contains("No such file"), Error);
}
