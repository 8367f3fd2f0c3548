#include "accelerate/config/write_config.h"

#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>

#include "accelerate/base/atomic_file.h"
#include "accelerate/config/keys.h"
#include "accelerate/config/scalar.h"

namespace accelerate::config {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json json_of(const Value& value) {
  return std::visit(
      [](const auto& one) -> json {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, std::monostate>) {
          return nullptr;
        } else {
          return one;
        }
      },
      value);
}

/// The given keys, sorted because nlohmann's objects are.
json json_of(const LaunchConfig& config) {
  json object = json::object();
  for (const auto& key : keys()) {
    std::visit(
        [&](auto member) {
          const auto& value = config.*member;
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Section>) {
            for (const auto& [name, one] : value) object[key.name][name] = json_of(one);
          } else if (value) {
            object[key.name] = *value;
          }
        },
        key.member);
  }
  return object;
}

void emit(YAML::Emitter& out, const json& value) {
  if (value.is_object()) {
    out << YAML::BeginMap;
    for (const auto& [key, one] : value.items()) {
      out << YAML::Key << key << YAML::Value;
      emit(out, one);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const auto& one : value) emit(out, one);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    if (needs_quotes(value)) out << YAML::SingleQuoted;
    out << value.get<std::string>();
  } else if (value.is_null()) {
    out << YAML::LowerNull << YAML::Null;
  } else {
    out << value.dump();  // flags and numbers have the same form as in JSON
  }
}

}  // namespace

std::string to_yaml(const LaunchConfig& config) {
  YAML::Emitter out;
  emit(out, json_of(config));
  return out.c_str() + std::string("\n");
}

std::string to_json(const LaunchConfig& config) { return json_of(config).dump(2) + "\n"; }

void write_launch_config(const LaunchConfig& config, const fs::path& path) {
  make_directories(fs::absolute(path).parent_path());
  write_file_atomically(path, path.extension() == ".json" ? to_json(config) : to_yaml(config));
}

}  // namespace accelerate::config
