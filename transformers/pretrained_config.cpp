#include "transformers/pretrained_config.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/read_file.h"
#include "accelerate/base/text.h"
#include "accelerate/formats/json_structure.h"
#include "transformers/config_rules.h"
#include "transformers/hub_cache.h"

namespace transformers {

using accelerate::fail;

struct PretrainedConfig::Values {
  nlohmann::json json = nlohmann::json::object();  // keeps its keys sorted, as Python writes them
  std::string source = "the configuration";
};

PretrainedConfig::PretrainedConfig() : values_(std::make_unique<Values>()) {}
PretrainedConfig::~PretrainedConfig() = default;
PretrainedConfig::PretrainedConfig(const PretrainedConfig& other) : values_(std::make_unique<Values>(*other.values_)) {}
PretrainedConfig& PretrainedConfig::operator=(const PretrainedConfig& other) {
  *values_ = Values(*other.values_);
  return *this;
}
PretrainedConfig::PretrainedConfig(PretrainedConfig&& other) noexcept = default;
PretrainedConfig& PretrainedConfig::operator=(PretrainedConfig&& other) noexcept = default;

PretrainedConfig PretrainedConfig::from_json(std::string_view text, const std::string& source) {
  PretrainedConfig config;
  config.values_->source = source;
  accelerate::formats::check_json_depth(text, source);
  try {
    config.values_->json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    fail(source, ": this is not JSON: ", error.what());
  }
  if (!config.values_->json.is_object())
    fail(source, ": a configuration is a JSON object, not an ", text.substr(0, 20));
  return config;
}

PretrainedConfig PretrainedConfig::from_pretrained(const std::string& checkpoint, const std::string& revision) {
  auto path = find_checkpoint(checkpoint, revision) / "config.json";
  auto text = accelerate::read_file_if_there(path);
  if (!text) fail(path.string(), ": no such file; a checkpoint needs its config.json");
  return from_json(*text, path.string());
}

std::string PretrainedConfig::to_json() const { return values_->json.dump(2) + "\n"; }

bool PretrainedConfig::contains(std::string_view key) const { return values_->json.contains(std::string(key)); }

namespace {

/// The value of a dotted key; null if a part of the path is missing.
const nlohmann::json* look_up(const nlohmann::json& json, std::string_view key) {
  const nlohmann::json* value = &json;
  while (true) {
    auto dot = key.find('.');
    auto found = value->is_object() ? value->find(std::string(key.substr(0, dot))) : value->end();
    if (!value->is_object() || found == value->end() || found->is_null()) return nullptr;
    value = &*found;
    if (dot == key.npos) return value;
    key.remove_prefix(dot + 1);
  }
}

}  // namespace

bool PretrainedConfig::is_text(std::string_view key) const {
  const auto* value = look_up(values_->json, key);
  return value && value->is_string();
}

namespace {

template <class T>
bool all_of_type(const nlohmann::json& list);

/// Whether a value can be read as a T without a change.
template <class T>
bool is_of_type(const nlohmann::json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.is_boolean();
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return value.is_number_integer() && (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX);
  } else if constexpr (std::is_same_v<T, double>) {
    return value.is_number();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string();
  } else {
    return value.is_array() && all_of_type<typename T::value_type>(value);
  }
}

template <class T>
bool all_of_type(const nlohmann::json& list) {
  return std::all_of(list.begin(), list.end(), [](const auto& item) { return is_of_type<T>(item); });
}

template <class T>
std::string type_in_words() {
  if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return "a whole number";
  } else if constexpr (std::is_same_v<T, double>) {
    return "a number";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "a string";
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return "a list of strings";
  } else {
    return "a list of numbers";
  }
}

std::string shortened(const nlohmann::json& value) {
  constexpr size_t kShown = 100;
  auto text = value.dump();
  return text.size() > kShown ? text.substr(0, kShown) + "..." : text;
}

}  // namespace

template <class T>
std::optional<T> PretrainedConfig::find(std::string_view key) const {
  const auto* value = look_up(values_->json, key);
  if (!value) return std::nullopt;
  auto expected = is_of_type<T>(*value) ? refusal(key, *value) : type_in_words<T>();
  if (!expected.empty()) {
    fail(values_->source, ": \"", key, "\" is ", shortened(*value), "; it must be ", expected);
  }
  return value->get<T>();
}

template <class T>
T PretrainedConfig::require(std::string_view key) const {
  if (auto value = find<T>(key)) return std::move(*value);
  fail(values_->source, ": \"", key, "\" is missing; it must be ", type_in_words<T>());
}

int64_t PretrainedConfig::positive(std::string_view key, int64_t fallback) const {
  auto value = get(key, fallback);
  if (value < 1) refuse({{key, value}}, "it must be at least 1");
  return value;
}

const std::string& PretrainedConfig::source() const { return values_->source; }

void PretrainedConfig::refuse(std::initializer_list<ConfigValue> values, std::string_view reason) const {
  std::vector<std::string> parts;
  for (const auto& [key, value] : values) {
    bool given = look_up(values_->json, key) != nullptr;
    parts.push_back("\"" + std::string(key) + "\" is " + std::to_string(value) + (given ? "" : " by default"));
  }
  fail(values_->source, ": ", accelerate::listed(parts, " and "), "; ", reason);
}

std::string PretrainedConfig::largest_number() const {
  std::string largest = "none";
  int64_t most = 0;
  for (const auto& [key, value] : values_->json.items()) {
    if (!is_of_type<int64_t>(value) || value.get<int64_t>() <= most) continue;
    most = value.get<int64_t>();
    largest = "\"" + key + "\": " + std::to_string(most);
  }
  return largest;
}

template <class T>
void PretrainedConfig::set(std::string_view key, const T& value) {
  values_->json[std::string(key)] = value;
}

#define TRANSFORMERS_CONFIG_TYPE(T)                                            \
  template std::optional<T> PretrainedConfig::find<T>(std::string_view) const; \
  template T PretrainedConfig::require<T>(std::string_view) const;             \
  template void PretrainedConfig::set<T>(std::string_view, const T&);
TRANSFORMERS_CONFIG_TYPE(int64_t)
TRANSFORMERS_CONFIG_TYPE(double)
TRANSFORMERS_CONFIG_TYPE(bool)
TRANSFORMERS_CONFIG_TYPE(std::string)
TRANSFORMERS_CONFIG_TYPE(std::vector<int64_t>)
TRANSFORMERS_CONFIG_TYPE(std::vector<double>)
TRANSFORMERS_CONFIG_TYPE(std::vector<std::string>)
#undef TRANSFORMERS_CONFIG_TYPE

int64_t PretrainedConfig::num_labels() const {
  const auto* names = look_up(values_->json, "id2label");
  if (names && (!names->is_object() || names->empty())) {
    fail(values_->source, ": \"id2label\" is ", shortened(*names), "; it must map numbers to names");
  }
  return names ? static_cast<int64_t>(names->size()) : positive("num_labels", 2);
}

void PretrainedConfig::set_num_labels(int64_t count) {
  if (count < 1) fail("num_labels is ", count, "; a classifier needs at least one label");
  if (count == num_labels()) return;
  nlohmann::json names = nlohmann::json::object(), numbers = nlohmann::json::object();
  for (int64_t i = 0; i < count; ++i) {
    std::string name = "LABEL_" + std::to_string(i);
    names[std::to_string(i)] = name;
    numbers[name] = i;
  }
  values_->json["id2label"] = names;
  values_->json["label2id"] = numbers;
  values_->json.erase("num_labels");  // which would contradict them
}

}  // namespace transformers
