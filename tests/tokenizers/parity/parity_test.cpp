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
#include "transformers/tokenizers/tokenizer.h"
#include "transformers/tokenizers/tokenizer_parts.h"

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
  Comparison(const std::string& path, OracleStream& oracle)
      : tokenizer_(Tokenizer::from_file(path)),
        compares_sequences_(!path.ends_with("/template_before_byte_level.json")),
        oracle_(oracle) {}

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
    Encoding expected = oracle_.encoding();
    std::string what = nlohmann::json(texts).dump(-1, ' ', true).substr(0, 400);

    EncodeOptions options{.add_special_tokens = add_special_tokens_};
    Encoding found =
        texts.size() == 1 ? tokenizer_.encode(texts[0], options) : tokenizer_.encode(texts[0], texts[1], options);
    ++num_compared_;
    compare_with_windows(what, found, expected);
    compare_decoding(expected.ids, what);
  }

  void compare_with_windows(const std::string& what, const Encoding& found, const Encoding& expected) {
    compare_columns(what, found, expected);
    size_t windows = found.overflowing.size();
    if (windows != expected.overflowing.size()) {
      return differ(what, "windows", std::to_string(windows), std::to_string(expected.overflowing.size()));
    }
    for (size_t i = 0; i < windows; ++i) compare_with_windows(what, found.overflowing[i], expected.overflowing[i]);
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
  bool compares_sequences_;  // see docs/differences.md: a ByteLevel post-processor after a template
  OracleStream& oracle_;
  std::string settings_;
  bool add_special_tokens_ = true;
  size_t num_compared_ = 0;
  size_t num_different_ = 0;
};

void compare(const std::vector<std::string>& paths, int num_real, int num_adversarial) {
  std::string command = "TOKENIZERS_PARALLELISM=false '" + kPython + "' '" + kFolder + "/oracle.py' " +
                        std::to_string(num_real) + " " + std::to_string(num_adversarial);
  for (const auto& path : paths) command += " '" + path + "'";
  OracleStream oracle(command);
  for (const auto& path : paths) {
    INFO(path);
    std::cout << path << ": " << std::flush;
    Comparison comparison(path, oracle);
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
  compare(paths, is_full() ? 100000 : 2000, is_full() ? 20000 : 2000);
}

TEST_CASE("small tokenizers with every other component give the results of the reference implementation") {
  const std::filesystem::path folder = ACCELERATE_BINARY_DIR "/tests/made_tokenizers_" + std::to_string(getpid());
  std::string command = "'" + kPython + "' '" + kFolder + "/made_tokenizers.py' '" + folder.string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  REQUIRE(paths.size() >= 9);
  std::sort(paths.begin(), paths.end());
  compare(paths, is_full() ? 5000 : 200, is_full() ? 10000 : 400);
  std::filesystem::remove_all(folder);
}
