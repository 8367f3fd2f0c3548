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

/// The object in a file, empty when there is no file.
json read_object(const std::filesystem::path& path) {
  const auto text = accelerate::read_file_if_there(path);
  if (!text) return json::object();
  accelerate::formats::check_json_depth(*text, path.string());
  auto object = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) fail(path.string(), ": this is not a JSON object");
  return object;
}

Direction side_of(const json& config, const char* key, const std::filesystem::path& path) {
  const auto side = config.value(key, json("right"));
  if (side == "right") return Direction::Right;
  if (side == "left") return Direction::Left;
  fail(path.string(), ": ", key, " is ", side.dump(), "; it can be left or right");
}

/// A special token: a text, or an object with its text and how it is found.
std::optional<std::string> token_of(const json& config, const char* key, const std::filesystem::path& path) {
  auto token = config.value(key, json());
  if (token.is_object()) token = token.value("content", json());
  if (token.is_null()) return std::nullopt;
  if (!token.is_string()) fail(path.string(), ": ", key, " should be a text");
  return token.get<std::string>();
}

/// Files without a limit hold a number far above any length, 1e30.
std::optional<int64_t> max_length_of(const json& config, const std::filesystem::path& path) {
  const auto length = config.value("model_max_length", json());
  if (length.is_null()) return std::nullopt;
  if (!length.is_number() || length.get<double>() < 1) {
    fail(path.string(), ": model_max_length is ", length.dump(), "; it should be a positive number");
  }
  if (length.get<double>() > 1e9) return std::nullopt;
  return length.get<int64_t>();
}

/// The inputs in the order of Python's class.
std::vector<std::string> inputs_of(std::string tokenizer_class) {
  static const std::set<std::string> types_second{"Bert",   "DPRQuestionEncoder", "Electra",
                                                  "Lxmert", "MarkupLM",           "MobileBert"};
  static const std::set<std::string> types_last{"Deberta", "DebertaV2"};
  const auto name = tokenizer_class.substr(0, tokenizer_class.find("Tokenizer"));
  if (types_second.contains(name)) return {"input_ids", "token_type_ids", "attention_mask"};
  if (types_last.contains(name)) return {"input_ids", "attention_mask", "token_type_ids"};
  return {"input_ids", "attention_mask"};
}

/// The inputs that the file names, nothing where it leaves them to the class.
std::optional<std::vector<std::string>> named_inputs(const json& config, const std::filesystem::path& path) {
  const auto names = config.value("model_input_names", json());
  if (names.is_null()) return std::nullopt;
  auto is_text = [](const json& name) { return name.is_string(); };
  if (!names.is_array() || !std::all_of(names.begin(), names.end(), is_text)) {
    fail(path.string(), ": model_input_names is ", names.dump(), "; it should be a list of texts");
  }
  return names.get<std::vector<std::string>>();
}

/// The class of the tokenizer, or, where it is not said, that of the model.
std::string class_of(const json& config, const std::filesystem::path& directory) {
  if (auto name = config.value("tokenizer_class", json()); name.is_string()) return name;
  const auto model_type = read_object(directory / "config.json").value("model_type", json());
  if (model_type == "bert" || model_type == "electra" || model_type == "mobilebert") return "BertTokenizer";
  if (model_type == "deberta" || model_type == "deberta-v2") return "DebertaV2Tokenizer";
  return "";
}

}  // namespace

TokenizerConfig read_tokenizer_config(const std::filesystem::path& directory) {
  const auto path = directory / "tokenizer_config.json";
  const auto config = read_object(path);
  TokenizerConfig result;
  result.model_max_length = max_length_of(config, path);
  result.padding_side = side_of(config, "padding_side", path);
  result.truncation_side = side_of(config, "truncation_side", path);
  result.pad_token = token_of(config, "pad_token", path);
  if (!result.pad_token) {
    const auto map = directory / "special_tokens_map.json";
    result.pad_token = token_of(read_object(map), "pad_token", map);
  }
  const auto names = named_inputs(config, path);
  result.model_input_names = names ? *names : inputs_of(class_of(config, directory));
  if (auto lower = config.value("do_lower_case", json()); lower.is_boolean()) result.do_lower_case = lower;
  return result;
}

}  // namespace transformers::inputs
