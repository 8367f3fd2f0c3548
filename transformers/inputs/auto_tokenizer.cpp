#include "transformers/inputs/auto_tokenizer.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "accelerate/base/content_key.h"
#include "accelerate/base/error.h"
#include "accelerate/base/read_file.h"
#include "transformers/hub_cache.h"
#include "transformers/inputs/labels.h"
#include "transformers/tokenizers/text/replace_all.h"

namespace transformers::inputs {

using accelerate::Batch;
using accelerate::fail;
using tokenizers::Tokenizer;

namespace {

Tokenizer read_tokenizer(const std::filesystem::path& directory) {
  if (auto path = directory / "tokenizer.json"; std::filesystem::exists(path)) return Tokenizer::from_file(path);
  if (auto path = directory / "vocab.txt"; std::filesystem::exists(path))
    return Tokenizer::from_vocab(path, read_vocab_options(directory));
  fail(directory.string(), ": there is neither a tokenizer.json nor a vocab.txt");
}

std::string fingerprint_of(const std::filesystem::path& directory, const TokenizerConfig& config) {
  accelerate::ContentKey key;
  key.add(config.model_max_length.value_or(-1));
  for (const auto& name : config.model_input_names) key.add(name);
  for (const char* name : {"tokenizer.json", "vocab.txt", "tokenizer_config.json", "special_tokens_map.json"}) {
    key.add(accelerate::read_file_if_there(directory / name).value_or(""));
  }
  return key.hex();
}

tokenizers::EncodeBatchOptions batch_options(const TokenizeOptions& options) {
  return {.add_special_tokens = options.add_special_tokens,
          .threads = options.num_threads,
          .first_text = options.first_text};
}

at::Tensor tensor_of(const std::vector<uint32_t>& numbers) {
  auto tensor = at::empty({static_cast<int64_t>(numbers.size())}, at::kLong);
  std::copy(numbers.begin(), numbers.end(), tensor.mutable_data_ptr<int64_t>());
  return tensor;
}

}  // namespace

AutoTokenizer::AutoTokenizer(Tokenizer tokenizer, TokenizerConfig config, std::string fingerprint)
    : tokenizer_(std::move(tokenizer)), config_(std::move(config)), fingerprint_(std::move(fingerprint)) {
  tokenizer_.no_truncation();
  tokenizer_.no_padding();
}

AutoTokenizer AutoTokenizer::from_pretrained(const std::string& checkpoint, const std::string& revision) {
  const auto directory = find_checkpoint(checkpoint, revision);
  auto tokenizer = read_tokenizer(directory);
  auto config = read_tokenizer_config(directory, tokenizer);
  auto fingerprint = fingerprint_of(directory, config);
  return AutoTokenizer(std::move(tokenizer), std::move(config), std::move(fingerprint));
}

Batch AutoTokenizer::operator()(const std::string& text, const TokenizeOptions& options) const {
  auto row = row_of(truncating(options).encode(text, {.add_special_tokens = options.add_special_tokens}));
  return tensors_of_one(std::move(row), options);
}

Batch AutoTokenizer::tokenize_pair(const std::string& text, const std::string& text_pair,
                                   const TokenizeOptions& options) const {
  auto row = row_of(truncating(options).encode(text, text_pair, {.add_special_tokens = options.add_special_tokens}));
  return tensors_of_one(std::move(row), options);
}

Batch AutoTokenizer::operator()(const std::vector<std::string>& texts, const TokenizeOptions& options) const {
  return batch_of(truncating(options).encode_batch(texts, batch_options(options)), options);
}

Batch AutoTokenizer::operator()(const std::vector<std::pair<std::string, std::string>>& pairs,
                                const TokenizeOptions& options) const {
  return batch_of(truncating(options).encode_batch(pairs, batch_options(options)), options);
}

Batch AutoTokenizer::operator()(const std::vector<text::LabelledText>& texts, const TokenizeOptions& options) const {
  auto batch = batch_of(encode(texts, options), options);
  batch["labels"] = labels_of(texts);
  return batch;
}

std::vector<Encoding> AutoTokenizer::encode(const std::vector<text::LabelledText>& rows,
                                            const TokenizeOptions& options) const {
  const bool pairs = !rows.empty() && rows.front().text_pair.has_value();
  std::vector<std::string> texts;
  std::vector<std::pair<std::string, std::string>> text_pairs;
  for (const auto& row : rows) {
    if (row.text_pair.has_value() != pairs) fail("some rows are pairs of texts and others are not");
    if (pairs)
      text_pairs.emplace_back(row.text, *row.text_pair);
    else
      texts.push_back(row.text);
  }
  const auto settings = batch_options(options);
  const auto tokenizer = truncating(options);
  return pairs ? tokenizer.encode_batch(text_pairs, settings) : tokenizer.encode_batch(texts, settings);
}

std::string AutoTokenizer::decode(const at::Tensor& ids, bool skip_special_tokens) const {
  const auto numbers = ids.to(at::kCPU, at::kLong).contiguous();
  if (numbers.dim() != 1) fail("decode: the tensor has ", numbers.dim(), " dimensions; give the ids of one text");
  const std::span ids_of_text(numbers.const_data_ptr<int64_t>(), static_cast<size_t>(numbers.numel()));
  for (int64_t id : ids_of_text) {
    if (!std::in_range<uint32_t>(id)) fail("decode: ", id, " is not the id of a token; replace such numbers first");
  }
  auto text = tokenizer_.decode(std::vector<uint32_t>(ids_of_text.begin(), ids_of_text.end()), skip_special_tokens);
  // BPE keeps the spaces of the text, so nothing is cleaned up.
  if (config_.clean_up_tokenization_spaces && !tokenizer_.is_bpe()) tokenizers::remove_english_spaces(text);
  return text;
}

PadToken AutoTokenizer::pad_token() const {
  const auto& token = config_.special_tokens.pad_token;
  if (!token) {
    fail("the tokenizer has no padding token; set one with set_pad_token, for example '",
         config_.special_tokens.eos_token.value_or("<pad>"), "'");
  }
  const auto id = tokenizer_.token_to_id(*token);
  if (!id) fail("the pad_token '", *token, "' is not in the vocabulary of the tokenizer");
  return {.id = *id, .side = config_.padding_side};
}

void AutoTokenizer::set_pad_token(const std::string& token) {
  if (!tokenizer_.token_to_id(token)) fail("set_pad_token: '", token, "' is not in the vocabulary of the tokenizer");
  config_.special_tokens.pad_token = token;
}

void AutoTokenizer::check_max_length(std::optional<int64_t> max_length) const {
  const auto positions = config_.max_positions;
  if (!max_length || !positions || *max_length <= *positions) return;
  fail("max_length is ", *max_length, ", but the model has ", *positions,
       " positions according to its config.json; use at most that many");
}

/// A copy of the tokenizer with the truncation of one call. It shares the vocabulary.
Tokenizer AutoTokenizer::truncating(const TokenizeOptions& options) const {
  check_max_length(options.max_length);
  auto tokenizer = tokenizer_;
  const auto max_length = options.max_length ? options.max_length : config_.model_max_length;
  const bool length_alone = options.max_length && options.padding == Padding::No;
  if (!max_length || !(options.truncation || length_alone)) return tokenizer;
  if (*max_length < 1) fail("max_length is ", *max_length, "; it must be positive");
  tokenizer.enable_truncation({.max_length = static_cast<size_t>(*max_length), .direction = config_.truncation_side});
  return tokenizer;
}

Batch AutoTokenizer::row_of(const Encoding& encoding) const {
  Batch row;
  for (const auto& name : config_.model_input_names) {
    if (name == "input_ids") row[name] = tensor_of(encoding.ids);
    if (name == "token_type_ids") row[name] = tensor_of(encoding.type_ids);
    if (name == "attention_mask") row[name] = tensor_of(encoding.attention_mask);
  }
  return row;
}

Batch AutoTokenizer::batch_of(const std::vector<Encoding>& encodings, const TokenizeOptions& options) const {
  std::vector<Batch> rows;
  for (const auto& encoding : encodings) rows.push_back(row_of(encoding));
  return padded(rows, options);
}

Batch AutoTokenizer::padded(const std::vector<Batch>& rows, const TokenizeOptions& options) const {
  const PadToken token = options.padding == Padding::No ? PadToken() : pad_token();
  return pad(rows, token,
             {.padding = options.padding,
              .max_length = options.max_length ? options.max_length : config_.model_max_length,
              .pad_to_multiple_of = options.pad_to_multiple_of});
}

/// One row, padded if the options say so.
Batch AutoTokenizer::tensors_of_one(Batch row, const TokenizeOptions& options) const {
  if (options.padding == Padding::No) return row;
  auto batch = padded({std::move(row)}, options);
  for (auto& [name, tensor] : batch) tensor = tensor.squeeze(0);
  return batch;
}

}  // namespace transformers::inputs
