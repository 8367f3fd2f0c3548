#include "transformers/tokenizers/length_options.h"

#include <string>

#include "transformers/tokenizers/description.h"

namespace transformers::tokenizers {

namespace {

Direction read_direction(const nlohmann::json& description) {
  auto name = field_or<std::string>(description, "direction", "Right");
  if (name == "Left") return Direction::Left;
  if (name == "Right") return Direction::Right;
  fail_field(description, "direction", "Left or Right");
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

}  // namespace transformers::tokenizers
