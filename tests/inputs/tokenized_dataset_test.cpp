#include "transformers/inputs/tokenized_dataset.h"
#include "tests/support/torch.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "accelerate/data/data_loader.h"
#include "accelerate/tensors/safetensors.h"
#include "tests/inputs/checkpoint.h"
#include "tests/parity/recorded.h"
#include "tests/support/captured_stderr.h"
#include "transformers/inputs/data_collator.h"

using accelerate::Batch;
using accelerate::tests::captured_stderr;
using accelerate::tests::Checkpoint;
using accelerate::tests::json;
using accelerate::tests::recorded;
using namespace transformers;

namespace {

/// A tokenizer, texts, and a directory of its own for the cache.
struct Example {
  Checkpoint files{recorded("tokenizer_inputs").at("checkpoints").at("bert").at("files")};
  AutoTokenizer tokenizer = AutoTokenizer::from_pretrained(files.name());
  std::vector<LabelledText> rows = [] {
    std::vector<LabelledText> rows;
    const std::vector<std::string> texts = recorded("tokenizer_inputs").at("texts");
    for (int64_t i = 0; i < 3000; ++i) rows.push_back({.text = texts[i * i % texts.size()], .label = i % 2});
    return rows;
  }();
  TokenizedDatasetOptions options{.cache_directory = files.path() / "cache" / "deep", .progress_bar = false};

  TokenizedDataset make() const { return TokenizedDataset(TextDataset(rows), tokenizer, options); }

  size_t num_cached() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(options.cache_directory)) ++count;
    return count;
  }
};

bool same(const Batch& a, const Batch& b) {
  if (a.names() != b.names()) return false;
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](const auto& x, const auto& y) { return torch::equal(x.second, y.second); });
}

}  // namespace

TEST_CASE("rows are those of the tokenizer, truncated to what the model takes, with their labels") {
  Example example;
  const auto dataset = example.make();
  REQUIRE(dataset.size() == 3000);
  for (size_t i : {0, 1, 2, 3, 1023, 1024, 2999}) {
    CAPTURE(i);
    auto wanted = example.tokenizer(example.rows[i].text, {.truncation = true});
    wanted["labels"] = torch::tensor(example.rows[i].label);
    CHECK(same(dataset.get(i), wanted));
  }
  CHECK_THROWS_WITH_AS(dataset.get(3000), "TokenizedDataset: there is no row 3000; there are 3000", accelerate::Error);
}

TEST_CASE("rows fit into the positions of the model, and a max_length beyond them is refused before any training") {
  Example example;
  example.files.write("tokenizer_config.json", "{}");
  example.files.write("config.json", R"({"model_type": "bert", "max_position_embeddings": 5})");
  example.tokenizer = AutoTokenizer::from_pretrained(example.files.name());
  const auto dataset = example.make();
  int64_t longest = 0;
  for (size_t i = 0; i < 3000; ++i) longest = std::max(longest, dataset.get(i).at("input_ids").numel());
  CHECK(longest == 5);
  example.options.max_length = 6;
  CHECK_THROWS_WITH_AS(
      example.make(),
      "max_length is 6, but the model has 5 positions according to its config.json; use at most that many",
      accelerate::Error);
  example.options.max_length.reset();
  example.files.write("config.json", R"({"model_type": "bert", "max_position_embeddings": 4})");
  example.tokenizer = AutoTokenizer::from_pretrained(example.files.name());
  CHECK_FALSE(example.make().from_cache());
}

TEST_CASE("the second time the rows come from disk, and are the same") {
  Example example;
  const auto first = example.make(), second = example.make();
  CHECK_FALSE(first.from_cache());
  CHECK(second.from_cache());
  CHECK(example.num_cached() == 1);
  for (size_t i = 0; i < 3000; i += 17) CHECK(same(first.get(i), second.get(i)));
}

TEST_CASE("another text, label, length or tokenizer is another file") {
  Example example;
  example.make();
  example.rows[7].label = 5;
  CHECK_FALSE(example.make().from_cache());
  example.rows[7].text += "!";
  CHECK_FALSE(example.make().from_cache());
  example.options.max_length = 3;
  CHECK_FALSE(example.make().from_cache());
  CHECK(example.make().get(1).at("input_ids").numel() == 3);
  example.files.write("special_tokens_map.json", "{}");
  example.tokenizer = AutoTokenizer::from_pretrained(example.files.name());
  CHECK_FALSE(example.make().from_cache());
  CHECK(example.num_cached() == 5);
  example.options.cache = false;
  CHECK_FALSE(example.make().from_cache());
}

TEST_CASE("labels of a regression are float32, and other files") {
  Example example;
  example.make();
  for (size_t i = 0; i < example.rows.size(); ++i) example.rows[i].number = 0.5 * static_cast<double>(i);
  const auto first = example.make(), second = example.make();
  CHECK_FALSE(first.from_cache());
  CHECK(second.from_cache());
  for (const auto& dataset : {first, second})
    CHECK(torch::equal(dataset.get(2999).at("labels"), torch::tensor(1499.5f)));
  const std::vector<LabelledText> two(example.rows.begin() + 1, example.rows.begin() + 3);
  CHECK(torch::equal(example.tokenizer(two, {.padding = Padding::Longest}).at("labels"), torch::tensor({0.5f, 1.0f})));
  example.rows.back().number.reset();
  CHECK_THROWS_WITH_AS(example.make(), doctest::Contains("rows have a number"), accelerate::Error);
}

TEST_CASE("several labels of a text are a row of float32, and other files") {
  Example example;
  example.make();
  for (size_t i = 0; i < example.rows.size(); ++i) example.rows[i].labels = {1, i % 2 == 0 ? 1.0f : 0.0f, 0};
  const auto first = example.make(), second = example.make();
  CHECK_FALSE(first.from_cache());
  CHECK(second.from_cache());
  for (const auto& dataset : {first, second}) {
    CHECK(torch::equal(dataset.get(2999).at("labels"), torch::tensor({1.0f, 0.0f, 0.0f})));
    const auto batch = DataCollatorWithPadding(example.tokenizer)({dataset.get(0), dataset.get(1)});
    CHECK(torch::equal(batch.at("labels"), torch::tensor({{1.0f, 1.0f, 0.0f}, {1.0f, 0.0f, 0.0f}})));
  }
  example.rows[7].labels[2] = 1;
  CHECK_FALSE(example.make().from_cache());
  example.rows.back().labels.pop_back();
  CHECK_THROWS_WITH_AS(example.make(), doctest::Contains("some rows have 3 labels and others 2"), accelerate::Error);
}

TEST_CASE("the cache has a size, and what was not used for longest goes first") {
  Example example;
  auto with_length = [&](int64_t length) {
    example.options.max_length = length;
    return example.make().from_cache();
  };
  CHECK_FALSE(with_length(3));
  CHECK_FALSE(with_length(4));
  CHECK(with_length(3));
  auto bytes_of_all = [&] {
    int64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(example.options.cache_directory))
      bytes += file.file_size();
    return bytes;
  };
  example.options.cache_bytes = bytes_of_all() * 5 / 4;  // room for two
  CHECK_FALSE(with_length(5));
  CHECK(example.num_cached() == 2);
  CHECK(with_length(3));
  CHECK(with_length(5));
  CHECK_FALSE(with_length(4));

  example.options.cache_bytes = 0;
  CHECK_FALSE(with_length(6));
  CHECK(example.num_cached() == 1);
  CHECK(with_length(6));
}

TEST_CASE("a broken file in the cache is replaced, and a cache that cannot be written is done without") {
  Example example;
  example.make();
  const auto file = std::filesystem::directory_iterator(example.options.cache_directory)->path();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  auto warning = captured_stderr([&] { CHECK_FALSE(example.make().from_cache()); });
  CHECK(warning.find("tokenising again") != std::string::npos);
  CHECK(example.make().from_cache());

  example.files.write("blocked", "a file where a directory should be");
  example.options.cache_directory = example.files.path() / "blocked" / "cache";
  warning = captured_stderr([&] { CHECK(example.make().size() == 3000); });
  CHECK(warning.find("the tokens are not cached") != std::string::npos);
}

TEST_CASE("a file of the cache that holds other tensors than tokens is replaced") {
  Example example;
  example.make();
  const auto file = std::filesystem::directory_iterator(example.options.cache_directory)->path();
  const auto good = accelerate::tensors::load_safetensors(file);
  auto with = [&](const std::string& name, const std::function<torch::Tensor(const torch::Tensor&)>& change) {
    CAPTURE(name);
    auto changed = good;
    for (auto& [key, tensor] : changed) {
      if (key == name) tensor = change(tensor).contiguous();
    }
    accelerate::tensors::save_safetensors(changed, file);
    auto warning = captured_stderr([&] { CHECK_FALSE(example.make().from_cache()); });
    CHECK(warning.find("not a cache file with the tokens of 3000 rows; tokenising again") != std::string::npos);
  };
  with("labels", [](const auto& labels) { return torch::cat({labels, labels}); });
  with("labels", [](const auto& labels) { return labels.to(torch::kInt); });
  with("ends", [](const auto& ends) { return ends.narrow(0, 1, ends.size(0) - 1); });
  with("ends", [](const auto& ends) { return ends + 1; });
  with("ends", [](const auto& ends) { return ends.flip(0); });
  with("input_ids", [](const auto& ids) { return ids.to(torch::kLong); });
  with("token_type_ids", [](const auto& ids) { return ids.narrow(0, 0, 5); });
  CHECK(example.make().from_cache());
}

TEST_CASE("of several that want the same tokens one tokenises") {
  Example example;
  std::atomic<int> num_tokenised = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { num_tokenised += !example.make().from_cache(); });
  }
  for (auto& thread : threads) thread.join();
  CHECK(num_tokenised == 1);
  CHECK(example.num_cached() == 1);
}

TEST_CASE("a text that cannot be tokenised is told by its number in the data set") {
  Example example;
  example.rows[2500].text = "\xff";
  CHECK_THROWS_WITH_AS(example.make(), doctest::Contains("text 2500: the text is not UTF-8"), accelerate::Error);
}

TEST_CASE("an empty data set is an error") {
  Example example;
  example.rows.clear();
  CHECK_THROWS_WITH_AS(example.make(), "TokenizedDataset: the data set is empty", accelerate::Error);
}

TEST_CASE("a loader with the collator gives padded batches, with worker threads too") {
  Example example;
  for (int num_workers : {0, 2}) {
    accelerate::DataLoader loader(example.make(), {.batch_size = 7,
                                                   .shuffle = true,
                                                   .collate = DataCollatorWithPadding(example.tokenizer),
                                                   .num_workers = num_workers});
    int64_t num_rows = 0, num_positive = 0;
    for (auto& batch : loader) {
      num_rows += batch.at("labels").size(0);
      num_positive += batch.at("labels").sum().item<int64_t>();
      CHECK((batch.at("input_ids").sizes() == batch.at("attention_mask").sizes()));
      CHECK(batch.at("attention_mask").sum(1).max().item<int64_t>() == batch.at("input_ids").size(1));
    }
    CHECK(num_rows == 3000);
    CHECK(num_positive == 1500);
  }
}

TEST_CASE("a streamed data set is tokenised batch by batch") {
  Example example;
  example.files.write("a.tsv", "label\ttext\n1\ta good film\n0\tbad\n1\tgood\n");
  auto collate = [&](std::vector<LabelledText> rows) {
    return example.tokenizer(rows, {.padding = Padding::Longest, .truncation = true});
  };
  accelerate::DataLoader loader(StreamedTextDataset(example.files.path() / "a.tsv"), collate, {.batch_size = 2});
  std::vector<int64_t> lengths;
  for (auto& batch : loader) lengths.push_back(batch.at("input_ids").size(1));
  CHECK(lengths == std::vector<int64_t>{5, 3});
}
