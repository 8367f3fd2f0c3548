// How a tokenizer is read from a tokenizer.json or a vocab.txt.

#include <nlohmann/json.hpp>
#include <utility>

#include "accelerate/base/error.h"
#include "accelerate/base/read_file.h"
#include "accelerate/formats/json_structure.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/models/word_piece.h"
#include "transformers/tokenizers/tokenizer_parts.h"

namespace transformers::tokenizers {

using accelerate::fail;

namespace {

Direction read_direction(const nlohmann::json& description) {
  auto name = field_or<std::string>(description, "direction", "Right");
  if (name == "Left") return Direction::Left;
  if (name == "Right") return Direction::Right;
  fail_field(description, "direction", "Left or Right");
}

/// What `read` makes of the part `name` of the file, or nothing (null, no value) when it is missing or null.
template <class Result>
Result read_if_given(const nlohmann::json& file, const char* name, auto read) {
  auto found = file.find(name);
  if (found == file.end() || found->is_null()) return Result();
  return read(*found);
}

nlohmann::json parse(std::string_view text, const std::string& source) {
  accelerate::formats::check_json_depth(text, source);
  try {
    auto file = nlohmann::json::parse(text);
    if (!file.is_object() || !file.contains("model")) fail(source, ": is not a tokenizer.json: it has no 'model'");
    return file;
  } catch (const nlohmann::json::parse_error& error) {
    fail(source, ": is not JSON from byte ", error.byte, " on");
  }
}

}  // namespace

TruncationOptions read_truncation(const nlohmann::json& description) {
  TruncationOptions options;
  options.max_length = field<size_t>(description, "max_length");
  options.stride = field<size_t>(description, "stride");
  auto strategy = field<std::string>(description, "strategy");
  if (strategy == "OnlyFirst") {
    options.strategy = TruncationStrategy::OnlyFirst;
  } else if (strategy == "OnlySecond") {
    options.strategy = TruncationStrategy::OnlySecond;
  } else if (strategy != "LongestFirst") {
    fail_field(description, "strategy", "LongestFirst, OnlyFirst or OnlySecond");
  }
  options.direction = read_direction(description);
  return options;
}

PaddingOptions read_padding(const nlohmann::json& description) {
  PaddingOptions options;
  auto strategy = description.find("strategy");
  if (strategy == description.end()) fail_field(description, "strategy", "BatchLongest or {\"Fixed\": length}");
  if (strategy->is_object()) {
    options.length = field<size_t>(*strategy, "Fixed");
  } else if (*strategy != "BatchLongest") {
    fail_field(description, "strategy", "BatchLongest or {\"Fixed\": length}");
  }
  options.pad_to_multiple_of = field_or<size_t>(description, "pad_to_multiple_of", 0);
  options.pad_id = field<uint32_t>(description, "pad_id");
  options.pad_type_id = field<uint32_t>(description, "pad_type_id");
  options.pad_token = field<std::string>(description, "pad_token");
  options.direction = read_direction(description);
  return options;
}

Tokenizer Tokenizer::from_file(const std::filesystem::path& path) {
  return from_json(accelerate::read_file(path), path.string());
}

Tokenizer Tokenizer::from_json(std::string_view text, const std::string& source) {
  auto file = parse(text, source);
  try {
    auto parts = std::make_shared<Parts>();
    parts->source = source;
    parts->normalizer = read_if_given<std::unique_ptr<Normalizer>>(file, "normalizer", read_normalizer);
    parts->pre_tokenizer = read_if_given<std::unique_ptr<PreTokenizer>>(file, "pre_tokenizer", read_pre_tokenizer);
    parts->model = read_model(file.at("model"));
    parts->post_processor = read_if_given<std::unique_ptr<PostProcessor>>(file, "post_processor", read_post_processor);
    parts->decoder = read_if_given<std::unique_ptr<Decoder>>(file, "decoder", read_decoder);
    if (file.contains("added_tokens")) {
      parts->added_tokens =
          AddedTokens(read_added_tokens(list_field(file, "added_tokens")), *parts->model, parts->normalizer.get());
    }
    Tokenizer tokenizer(std::move(parts));
    auto truncation = read_if_given<std::optional<TruncationOptions>>(file, "truncation", read_truncation);
    if (truncation) tokenizer.enable_truncation(*truncation);
    tokenizer.padding_ = read_if_given<std::optional<PaddingOptions>>(file, "padding", read_padding);
    return tokenizer;
  } catch (const accelerate::Error& error) {
    fail(source, ": ", error.what());
  } catch (const nlohmann::json::exception& error) {
    fail(source, ": is not a valid tokenizer.json: ", error.what());
  }
}

Tokenizer Tokenizer::from_vocab(const std::filesystem::path& path, const VocabOptions& options) {
  auto parts = std::make_shared<Parts>();
  parts->source = path.string();
  parts->normalizer = read_normalizer({{"type", "BertNormalizer"},
                                       {"clean_text", true},
                                       {"handle_chinese_chars", options.tokenize_chinese_chars},
                                       {"strip_accents", options.strip_accents.value_or(options.lowercase)},
                                       {"lowercase", options.lowercase}});
  parts->pre_tokenizer = read_pre_tokenizer({{"type", "BertPreTokenizer"}});
  parts->model = std::make_unique<WordPiece>(read_vocab_file(path), WordPieceOptions{});
  auto special_token = [&](const char* token) {
    auto id = parts->model->token_to_id(token);
    if (!id) fail(path.string(), ": has no line '", token, "'; it is not the vocab.txt of a BERT model");
    return nlohmann::json{token, *id};
  };
  parts->post_processor = read_post_processor(
      {{"type", "BertProcessing"}, {"sep", special_token("[SEP]")}, {"cls", special_token("[CLS]")}});
  parts->decoder = read_decoder({{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}});
  std::vector<AddedToken> special_tokens;
  for (const char* token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    special_tokens.push_back({.content = special_token(token)[0], .normalized = false, .special = true});
  }
  parts->added_tokens = AddedTokens(special_tokens, *parts->model, parts->normalizer.get());
  return Tokenizer(std::move(parts));
}

}  // namespace transformers::tokenizers
