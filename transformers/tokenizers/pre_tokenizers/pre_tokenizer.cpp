#include "transformers/tokenizers/pre_tokenizers/pre_tokenizer.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/normalizers/character_changes.h"
#include "transformers/tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "transformers/tokenizers/pre_tokenizers/splits.h"
#include "transformers/tokenizers/text/pattern.h"
#include "transformers/tokenizers/text/unicode.h"

namespace transformers::tokenizers {

using accelerate::first_character;

namespace {

/// A pre-tokenizer that is one function.
class FunctionPreTokenizer : public PreTokenizer {
 public:
  explicit FunctionPreTokenizer(std::function<void(Pieces&)> function) : function_(std::move(function)) {}

  void pre_tokenize(Pieces& pieces) const override { function_(pieces); }

 private:
  std::function<void(Pieces&)> function_;
};

/// Several pre-tokenizers one after the other.
class PreTokenizerSequence : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<std::unique_ptr<PreTokenizer>> parts) : parts_(std::move(parts)) {}

  void pre_tokenize(Pieces& pieces) const override {
    for (const auto& part : parts_) part->pre_tokenize(pieces);
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> parts_;
};

std::unique_ptr<PreTokenizer> from_function(std::function<void(Pieces&)> function) {
  return std::make_unique<FunctionPreTokenizer>(std::move(function));
}

void split_pattern(Pieces& pieces, const Pattern& pattern, SplitBehavior behavior, bool invert) {
  pieces.cut([&](const Piece& piece, const auto& add) {
    Splitter splitter(behavior, add);
    pattern.for_each_match(pieces[piece], [&](size_t begin, size_t end, bool is_match) {
      splitter.take(piece.begin + begin, piece.begin + end, is_match != invert);
    });
    splitter.finish();
  });
}

std::unique_ptr<PreTokenizer> read_split(const nlohmann::json& description) {
  auto pattern = read_pattern(description);
  auto behavior = read_split_behavior(description);
  bool invert = field<bool>(description, "invert");
  return from_function([=](Pieces& pieces) { split_pattern(pieces, pattern, behavior, invert); });
}

void add_prefix_spaces(Pieces& pieces) {
  pieces.rewrite([&](Rewrite& rewrite, const Piece& piece) {
    if (!rewrite.rest().starts_with(' ')) rewrite.insert_before(" ");
    rewrite.keep(piece.end - piece.begin);
  });
}

void split_gpt2_words(Pieces& pieces) {
  const auto pattern = WordPattern::gpt2();
  std::string_view text = pieces.text.text();
  pieces.cut([&](const Piece& piece, const auto& add) {
    std::string_view words = text.substr(0, piece.end);
    for (size_t begin = piece.begin, end; begin < piece.end; begin = end) add(begin, end = pattern.match(words, begin));
  });
}

std::unique_ptr<PreTokenizer> read_byte_level(const nlohmann::json& description) {
  bool add_prefix_space = field<bool>(description, "add_prefix_space");
  bool use_regex = optional_field<bool>(description, "use_regex").value_or(true);
  return from_function([=](Pieces& pieces) {
    if (add_prefix_space) add_prefix_spaces(pieces);
    if (use_regex) split_gpt2_words(pieces);
    pieces.rewrite(
        [](Rewrite& rewrite, const Piece& piece) { rewrite.replace_bytes(piece.end - piece.begin, byte_texts()); });
  });
}

std::unique_ptr<PreTokenizer> read_digits(const nlohmann::json& description) {
  bool single = field<bool>(description, "individual_digits");
  auto behavior = single ? SplitBehavior::Isolated : SplitBehavior::Contiguous;
  return from_function([behavior](Pieces& pieces) { split_at(pieces, kNumeric, behavior); });
}

std::unique_ptr<PreTokenizer> read_punctuation(const nlohmann::json& description) {
  bool has_behavior = description.contains("behavior");
  auto behavior = has_behavior ? read_split_behavior(description) : SplitBehavior::Isolated;
  return from_function([behavior](Pieces& pieces) { split_at(pieces, kPunctuation, behavior); });
}

std::unique_ptr<PreTokenizer> read_delimiter(const nlohmann::json& description) {
  char32_t delimiter = first_character(character_field(description, "delimiter"));
  return from_function([delimiter](Pieces& pieces) { split_at_delimiter(pieces, delimiter); });
}

std::unique_ptr<PreTokenizer> read_fixed_length(const nlohmann::json& description) {
  constexpr size_t kDefaultLength = 5;
  size_t length = optional_field<size_t>(description, "length").value_or(kDefaultLength);
  if (length == 0) fail_field(description, "length", "at least 1");
  return from_function([length](Pieces& pieces) { split_length(pieces, length); });
}

std::unique_ptr<PreTokenizer> read_pre_tokenizers(const nlohmann::json& description) {
  std::vector<std::unique_ptr<PreTokenizer>> parts;
  for (const auto& part : list_field(description, "pretokenizers")) {
    parts.push_back(read_pre_tokenizer(part));
  }
  return std::make_unique<PreTokenizerSequence>(std::move(parts));
}

}  // namespace

std::unique_ptr<PreTokenizer> read_pre_tokenizer(const nlohmann::json& description) {
  std::string type = component_type(description, "pre_tokenizer");
  if (type == "BertPreTokenizer") return from_function(split_bert_words);
  if (type == "ByteLevel") return read_byte_level(description);
  if (type == "CharDelimiterSplit") return read_delimiter(description);
  if (type == "Digits") return read_digits(description);
  if (type == "FixedLength") return read_fixed_length(description);
  if (type == "Metaspace") return read_metaspace(description);
  if (type == "Punctuation") return read_punctuation(description);
  if (type == "Sequence") return read_pre_tokenizers(description);
  if (type == "Split") return read_split(description);
  if (type == "UnicodeScripts") return from_function(split_scripts);
  if (type == "Whitespace") return from_function(split_words);
  if (type == "WhitespaceSplit") {
    return from_function([](Pieces& pieces) { split_at(pieces, kWhiteSpace, SplitBehavior::Removed); });
  }
  fail_unknown_type("pre_tokenizer", type,
                    {"BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits", "FixedLength", "Metaspace",
                     "Punctuation", "Sequence", "Split", "UnicodeScripts", "Whitespace", "WhitespaceSplit"});
}

}  // namespace transformers::tokenizers
