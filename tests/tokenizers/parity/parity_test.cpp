// Tokenizers compared with the `tokenizers` package: every id, offset, mask and decoded text, for real tokenizer files
// and for small ones that use what those do not. ACCELERATE_TEST_FULL takes all texts,
// ACCELERATE_TEST_TOKENIZER another file than the four that are compared by default.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tokenizers/parity/oracle_stream.h"
#include "transformers/tokenizers/length_options.h"
#include "transformers/tokenizers/tokenizer.h"

using namespace transformers;
using tests::OracleStream;

namespace {

const std::string kFolder = ACCELERATE_SOURCE_DIR "/tests/tokenizers/parity";
const std::string kAssets = ACCELERATE_SOURCE_DIR "/.assets";
const std::string kPython = ACCELERATE_ORACLE_PYTHON;
constexpr int kShownDifferences = 3;

bool is_full() { return std::getenv("ACCELERATE_TEST_FULL") != nullptr; }

template <class T>
std::string shown(const std::vector<T>& values) {
  constexpr size_t kShown = 40;
  std::string text;
  for (size_t i = 0; i < std::min(values.size(), kShown); ++i) {
    if constexpr (std::is_arithmetic_v<T>) {
      text += std::to_string(values[i]) + " ";
    } else {
      text += std::to_string(values[i].first) + "-" + std::to_string(values[i].second) + " ";
    }
  }
  return text + (values.size() > kShown ? "..." : "");
}

/// One tokenizer and its counterpart's answers.
class Comparison {
 public:
  /// `usual` says that each text stands once and in order.
  Comparison(const std::string& path, bool usual, OracleStream& oracle)
      : tokenizer_(Tokenizer::from_file(path)), usual_(usual), oracle_(oracle) {}

  /// Reads to the end of the stream.
  void run() {
    while (true) {
      char letter = oracle_.letter();
      if (letter == 'X') return;
      if (letter == 'S') configure(nlohmann::json::parse(oracle_.text()));
      if (letter == 'E') compare_encoding();
      if (letter == 'D') compare_decoding(oracle_.values<uint32_t>(oracle_.number()), "");
    }
  }

  size_t num_compared() const { return num_compared_; }
  size_t num_different() const { return num_different_; }

 private:
  void configure(const nlohmann::json& settings) {
    settings_ = settings.dump();
    add_special_tokens_ = settings["add_special_tokens"];
    // With padding, windows or repeated texts the package gives tokens to texts of which they are not part.
    compares_sequences_ = usual_ && settings["truncation"].is_null() && settings["padding"].is_null();
    tokenizer_.no_truncation();
    tokenizer_.no_padding();
    if (!settings["truncation"].is_null()) {
      tokenizer_.enable_truncation(tokenizers::read_truncation(settings["truncation"]));
    }
    if (!settings["padding"].is_null()) tokenizer_.enable_padding(tokenizers::read_padding(settings["padding"]));
  }

  void compare_encoding() {
    std::vector<std::string> texts;
    for (uint32_t count = oracle_.number(); texts.size() < count;) texts.push_back(oracle_.text());
    std::vector<Encoding> expected;
    for (uint32_t count = oracle_.number(); expected.size() < count;) expected.push_back(oracle_.encoding());
    std::string what = nlohmann::json(texts).dump(-1, ' ', true).substr(0, 400);

    EncodeOptions options{.add_special_tokens = add_special_tokens_};
    Encoding found =
        texts.size() == 1 ? tokenizer_.encode(texts[0], options) : tokenizer_.encode(texts[0], texts[1], options);
    ++num_compared_;
    if (found.overflowing.size() + 1 != expected.size()) {
      differ(what, "windows", std::to_string(found.overflowing.size() + 1), std::to_string(expected.size()));
    } else {
      compare_columns(what, found, expected[0]);
      for (size_t i = 1; i < expected.size(); ++i) compare_columns(what, found.overflowing[i - 1], expected[i]);
    }
    compare_decoding(expected[0].ids, what);
  }

  void compare_columns(const std::string& what, const Encoding& found, const Encoding& expected) {
    auto same = [&](const char* name, const auto& ours, const auto& theirs) {
      if (ours != theirs) differ(what, name, shown(ours), shown(theirs));
      return ours == theirs;
    };
    same("ids", found.ids, expected.ids) && same("offsets", found.offsets, expected.offsets) &&
        same("type_ids", found.type_ids, expected.type_ids) && same("word_ids", found.word_ids, expected.word_ids) &&
        (!compares_sequences_ || same("sequence_ids", found.sequence_ids, expected.sequence_ids)) &&
        same("special_tokens_mask", found.special_tokens_mask, expected.special_tokens_mask) &&
        same("attention_mask", found.attention_mask, expected.attention_mask);
  }

  void compare_decoding(const std::vector<uint32_t>& ids, const std::string& what) {
    for (bool skip_special_tokens : {true, false}) {
      std::string expected = oracle_.text();
      std::string found = tokenizer_.decode(ids, skip_special_tokens);
      if (found != expected) differ(what + " of " + shown(ids), "decoded", found, expected);
    }
  }

  void differ(const std::string& what, const char* name, const std::string& found, const std::string& expected) {
    ++num_different_;
    if (num_different_ > kShownDifferences) return;
    std::cout << settings_ << "\n  " << what << "\n  " << name << ": " << found << "\n  should be: " << expected
              << "\n";
  }

  Tokenizer tokenizer_;
  bool usual_;
  OracleStream& oracle_;
  std::string settings_;
  bool add_special_tokens_ = true;
  bool compares_sequences_ = false;
  size_t num_compared_ = 0;
  size_t num_different_ = 0;
};

void compare(const std::vector<std::string>& paths, bool usual, int num_real, int num_adversarial) {
  std::string command = "TOKENIZERS_PARALLELISM=false '" + kPython + "' '" + kFolder + "/oracle.py' " +
                        std::to_string(num_real) + " " + std::to_string(num_adversarial);
  for (const auto& path : paths) command += " '" + path + "'";
  OracleStream oracle(command);
  for (const auto& path : paths) {
    INFO(path);
    std::cout << path << ": " << std::flush;
    Comparison comparison(path, usual, oracle);
    comparison.run();
    std::cout << comparison.num_compared() << " encodings, " << comparison.num_different() << " differences\n";
    CHECK(comparison.num_compared() > static_cast<size_t>(num_real + num_adversarial));
    CHECK(comparison.num_different() == 0);
  }
  CHECK(oracle.close() == 0);
}

std::vector<std::string> real_tokenizers() {
  if (const char* chosen = std::getenv("ACCELERATE_TEST_TOKENIZER")) return {chosen};
  return {"minilm", "olmo", "llama2", "t5"};
}

}  // namespace

TEST_CASE("real tokenizers give the tokens, offsets, masks and decoded texts of the reference implementation") {
  std::vector<std::string> paths;
  for (const auto& name : real_tokenizers()) paths.push_back(kAssets + "/" + name + "-tokenizer/tokenizer.json");
  compare(paths, true, is_full() ? 100000 : 2000, is_full() ? 20000 : 2000);
}

TEST_CASE("so do small tokenizers with every other component") {
  const std::filesystem::path folder = ACCELERATE_BINARY_DIR "/tests/made_tokenizers_" + std::to_string(getpid());
  std::string command = "'" + kPython + "' '" + kFolder + "/made_tokenizers.py' '" + folder.string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  REQUIRE(paths.size() >= 9);
  std::sort(paths.begin(), paths.end());
  compare(paths, false, is_full() ? 5000 : 200, is_full() ? 10000 : 400);
  std::filesystem::remove_all(folder);
}
