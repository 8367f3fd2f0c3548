#include "transformers/pretrained_config.h"

#include <vector>

#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/read_file.h"
#include "accelerate/formats/json_structure.h"
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
  if (!text) fail(path.string(), ": there is no such file; a checkpoint needs its config.json");
  return from_json(*text, path.string());
}

std::string PretrainedConfig::to_json() const { return values_->json.dump(2) + "\n"; }

bool PretrainedConfig::contains(std::string_view key) const { return values_->json.contains(std::string(key)); }

namespace {

/// The value behind a dotted key; null when a step of the way is missing.
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

template <class T>
std::optional<T> PretrainedConfig::find(std::string_view key) const {
  const auto* value = look_up(values_->json, key);
  if (!value) return std::nullopt;
  try {
    if constexpr (std::is_same_v<T, int64_t>) {
      if (!value->is_number_integer()) throw std::invalid_argument("it should be a whole number");
    }
    return value->get<T>();
  } catch (const std::exception& error) {
    fail(values_->source, ": \"", key, "\": ", value->dump(), " cannot be used: ", error.what());
  }
}

template <class T>
T PretrainedConfig::require(std::string_view key) const {
  if (auto value = find<T>(key)) return std::move(*value);
  fail(values_->source, ": \"", key, "\" is missing");
}

int64_t PretrainedConfig::positive(std::string_view key, int64_t fallback) const {
  auto value = get(key, fallback);
  if (value < 1) fail(values_->source, ": \"", key, "\" is ", value, "; it should be at least 1");
  return value;
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
  if (names && !names->is_object()) fail(values_->source, ": \"id2label\" should map numbers to names");
  return names ? static_cast<int64_t>(names->size()) : positive("num_labels", 2);
}

void PretrainedConfig::set_num_labels(int64_t count) {
  if (count < 1) fail("num_labels is ", count, "; a classifier has at least one");
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
