#include "accelerate/config/write_config.h"

#include <nlohmann/json.hpp>

#include "accelerate/config/keys.h"

namespace accelerate::config {

namespace {

using nlohmann::ordered_json;

ordered_json schema_of(const Key& key) {
  ordered_json schema = {{"description", key.meaning}};
  auto of_type = [&](const char* type) { schema["type"] = {type, "null"}; };
  std::visit(
      [&](auto member) {
        using Target = std::remove_reference_t<decltype(std::declval<LaunchConfig&>().*member)>;
        if constexpr (std::is_same_v<Target, std::optional<bool>>) {
          of_type("boolean");
        } else if constexpr (std::is_same_v<Target, std::optional<int64_t>>) {
          of_type("integer");
          if (key.minimum != Key{}.minimum) schema["minimum"] = key.minimum;
          if (key.maximum != Key{}.maximum) schema["maximum"] = key.maximum;
        } else if constexpr (std::is_same_v<Target, std::optional<std::string>>) {
          of_type("string");
          if (!key.choices.empty()) schema["enum"] = key.choices;
        } else if constexpr (std::is_same_v<Target, Section>) {
          of_type("object");
          for (const auto& name : key.choices) schema["properties"][name] = ordered_json::object();
        } else {
          of_type("array");
          schema["items"] = {{"type", "string"}};
        }
      },
      key.member);
  return schema;
}

/// In YAML 1.1, which Python and many editors read, an unquoted NO or no is false. This library reads it as text.
void accept_unquoted_no(ordered_json& schema) {
  for (const char* key : {"distributed_type", "mixed_precision", "downcast_bf16"}) {
    auto& property = schema["properties"][key];
    property["type"] = {"string", "boolean", "null"};
    property["enum"].push_back(false);
    property["enum"].push_back(nullptr);
  }
  schema["properties"]["downcast_bf16"]["enum"].push_back(true);
  schema["properties"]["compute_environment"]["enum"].push_back(nullptr);
}

}  // namespace

std::string config_schema() {
  ordered_json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                         {"title", "Configuration of accelerate launch"},
                         {"type", "object"},
                         {"required", {"distributed_type"}},
                         {"additionalProperties", false}};
  for (const auto& key : keys()) schema["properties"][key.name] = schema_of(key);
  schema["properties"]["num_processes"]["description"] = "processes of all machines together; -1: given at launch";
  schema["properties"]["num_processes"]["minimum"] = -1;
  schema["properties"]["gpu_ids"]["type"] = {"string", "integer", "null"};
  accept_unquoted_no(schema);
  return schema.dump(2) + "\n";
}

}  // namespace accelerate::config
