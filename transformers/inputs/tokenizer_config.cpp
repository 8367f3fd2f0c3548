#include "transformers/inputs/tokenizer_config.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/read_file.h"
#include "accelerate/formats/json_structure.h"

namespace transformers::inputs {

using accelerate::fail;
using nlohmann::json;
using tokenizers::Direction;

namespace {

/// The JSON object in a file; empty if there is no file.
json read_object(const std::filesystem::path& path) {
  const auto text = accelerate::read_file_if_there(path);
  if (!text) return json::object();
  accelerate::formats::check_json_depth(*text, path.string());
  auto object = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) fail(path.string(), ": this is not a JSON object");
  return object;
}

Direction side_of(const json& config, const char* key, Direction fallback, const std::filesystem::path& path) {
  if (!config.contains(key)) return fallback;
  const auto& side = config.at(key);
  if (side == "right") return Direction::Right;
  if (side == "left") return Direction::Left;
  fail(path.string(), ": ", key, " is ", side.dump(), "; it can be left or right");
}

/// A special token: a string, or an object with its content and flags.
std::optional<std::string> token_of(const json& config, const char* key, const std::filesystem::path& path) {
  auto token = config.value(key, json());
  if (token.is_object()) token = token.value("content", json());
  if (token.is_null()) return std::nullopt;
  if (!token.is_string()) fail(path.string(), ": ", key, " must be a string");
  return token.get<std::string>();
}

/// Files without a limit have a huge number, 1e30.
std::optional<int64_t> max_length_of(const json& config, const std::filesystem::path& path) {
  const auto length = config.value("model_max_length", json());
  if (length.is_null()) return std::nullopt;
  if (!length.is_number() || length.get<double>() < 1) {
    fail(path.string(), ": model_max_length is ", length.dump(), "; it must be a positive number");
  }
  if (length.get<double>() > 1e9) return std::nullopt;
  return length.get<int64_t>();
}

std::optional<int64_t> smaller(std::optional<int64_t> a, std::optional<int64_t> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

/// The inputs that the file names, nothing where it leaves them to the class.
std::optional<std::vector<std::string>> named_inputs(const json& config, const std::filesystem::path& path) {
  const auto names = config.value("model_input_names", json());
  if (names.is_null()) return std::nullopt;
  auto is_text = [](const json& name) { return name.is_string(); };
  if (!names.is_array() || !std::all_of(names.begin(), names.end(), is_text)) {
    fail(path.string(), ": model_input_names is ", names.dump(), "; it must be a list of strings");
  }
  return names.get<std::vector<std::string>>();
}

std::string text_of(const json& object, const char* key) {
  const auto text = object.value(key, json());
  return text.is_string() ? text.get<std::string>() : "";
}

/// Whether a tokenizer.json has a part for bytes.
bool is_byte_level(const std::filesystem::path& file) {
  return accelerate::read_file_if_there(file).value_or("").find("\"ByteLevel\"") != std::string::npos;
}

std::string class_name_of(const json& config, const json& model, const std::filesystem::path& directory) {
  auto declared = text_of(config, "tokenizer_class");
  if (declared.empty()) declared = text_of(model, "tokenizer_class");
  const auto name = tokenizer_class_name(text_of(model, "model_type"), declared);
  // Files of Llama 3 name the class of SentencePiece models; Python ignores it too.
  return name == "Llama" && is_byte_level(directory / "tokenizer.json") ? "" : name;
}

/// The number of usable position embeddings of a model. RoBERTa and MPNet do not use the first ones, and DeBERTa may
/// have none. Missing keys have the defaults of the model's class.
std::optional<int64_t> positions_of(const json& model) {
  static const std::set<std::string> from_zero{"albert", "bert", "deberta-v2", "distilbert", "electra"};
  static const std::set<std::string> after_padding{"camembert", "roberta", "xlm-roberta"};
  auto number = [&](const char* key, int64_t fallback) {
    const auto value = model.value(key, json(fallback));
    return value.is_number_integer() ? value.get<int64_t>() : 0;
  };
  const auto type = text_of(model, "model_type");
  const int64_t rows = number("max_position_embeddings", 512);
  int64_t positions = 0;
  if (from_zero.contains(type)) positions = rows;
  if (after_padding.contains(type)) positions = rows - number("pad_token_id", 1) - 1;
  if (type == "deberta-v2" && model.value("position_biased_input", json(true)) == false) positions = 0;
  if (type == "gpt2") positions = number("n_positions", 1024);
  if (type == "mpnet") positions = rows - 2;  // whatever the id of its padding is
  return positions > 0 ? std::optional(positions) : std::nullopt;
}

/// Overrides the tokens that a file names; null removes a token.
void read_special_tokens(const json& config, const std::filesystem::path& path, SpecialTokens& tokens) {
  auto read = [&](const char* key, std::optional<std::string>& token) {
    if (config.contains(key)) token = token_of(config, key, path);
  };
  read("pad_token", tokens.pad_token);
  read("unk_token", tokens.unk_token);
  read("cls_token", tokens.cls_token);
  read("sep_token", tokens.sep_token);
  read("mask_token", tokens.mask_token);
  read("bos_token", tokens.bos_token);
  read("eos_token", tokens.eos_token);
}

bool flag_of(const json& config, const char* key, bool fallback) {
  const auto value = config.value(key, json());
  return value.is_boolean() ? value.get<bool>() : fallback;
}

/// Throws Error for tokens that were added to a vocab.txt, by the files that older and newer versions write.
void refuse_added_tokens(const json& config, const std::filesystem::path& directory) {
  static const std::set<std::string> of_bert{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  auto refuse = [&](const std::string& token, const char* file) {
    if (of_bert.contains(token)) return;
    fail((directory / file).string(), ": the token '", token,
         "' was added to vocab.txt; Python's save_pretrained writes a tokenizer.json with it");
  };
  if (const auto added = config.find("added_tokens_decoder"); added != config.end()) {
    for (const auto& token : *added) {
      refuse(token.is_object() ? text_of(token, "content") : token.dump(), "tokenizer_config.json");
    }
    return;
  }
  const auto added = read_object(directory / "added_tokens.json");
  for (const auto& [token, id] : added.items()) refuse(token, "added_tokens.json");
}

}  // namespace

tokenizers::VocabOptions read_vocab_options(const std::filesystem::path& directory) {
  const auto config = read_object(directory / "tokenizer_config.json");
  const auto model = read_object(directory / "config.json");
  const auto name = class_name_of(config, model, directory);
  const auto type = text_of(model, "model_type");
  const bool nothing_known = name.empty() && type.empty();
  if (!nothing_known && !splits_like_bert(name)) {
    fail((directory / "vocab.txt").string(), ": ", name.empty() ? "a model of type " + type : name + "Tokenizer",
         " does not use this file as BERT does; it needs a tokenizer.json");
  }
  refuse_added_tokens(config, directory);
  tokenizers::VocabOptions options;
  options.lowercase = flag_of(config, "do_lower_case", options.lowercase);
  options.tokenize_chinese_chars = flag_of(config, "tokenize_chinese_chars", options.tokenize_chinese_chars);
  options.strip_accents = flag_of(config, "strip_accents", options.lowercase);
  return options;
}

TokenizerConfig read_tokenizer_config(const std::filesystem::path& directory, const tokenizers::Tokenizer& tokenizer) {
  const auto path = directory / "tokenizer_config.json";
  const auto config = read_object(path);
  const auto model = read_object(directory / "config.json");
  const auto defaults = find_tokenizer_class(class_name_of(config, model, directory));
  const auto& padding = tokenizer.padding();
  const auto& truncation = tokenizer.truncation();
  TokenizerConfig result;
  result.max_positions = positions_of(model);
  result.model_max_length = smaller(max_length_of(config, path), result.max_positions);
  result.padding_side = side_of(config, "padding_side", padding ? padding->direction : defaults.padding_side, path);
  result.truncation_side =
      side_of(config, "truncation_side", truncation ? truncation->direction : Direction::Right, path);
  result.special_tokens = defaults.special_tokens;
  auto& pad_token = result.special_tokens.pad_token;
  if (padding && !pad_token && !defaults.without_padding) pad_token = padding->pad_token;
  read_special_tokens(config, path, result.special_tokens);
  if (!config.contains("added_tokens_decoder")) {  // newer files, for which Python ignores the map
    const auto map = directory / "special_tokens_map.json";
    read_special_tokens(read_object(map), map, result.special_tokens);
  }
  result.model_input_names = named_inputs(config, path).value_or(defaults.model_input_names);
  result.clean_up_tokenization_spaces = flag_of(config, "clean_up_tokenization_spaces", false);
  return result;
}

}  // namespace transformers::inputs
