#include "accelerate/config/assign.h"

#include <algorithm>
#include <sstream>

#include "accelerate/base/text.h"
#include "accelerate/config/scalar.h"

namespace accelerate::config {

namespace {

std::string describe(const DocumentNode& node) {
  switch (node.kind) {
    case DocumentNode::Kind::Null:
      return "nothing";
    case DocumentNode::Kind::Text:
      return (node.quoted ? "the string '" : "'") + node.text.substr(0, 80) + "'";
    case DocumentNode::Kind::List:
      return "a list";
    case DocumentNode::Kind::Map:
      return "a map";
  }
  return "";
}

[[noreturn]] void refuse(const Key& key, const DocumentNode& node, const std::string& remedy) {
  throw ValueError(node.position, key.name + " is " + describe(node) + "; " + remedy);
}

bool read_flag(const Key& key, const DocumentNode& node) {
  auto flag = as_flag(node);
  if (!flag) refuse(key, node, node.quoted ? "write true or false without quotes" : "it can be true or false");
  return *flag;
}

int64_t read_integer(const Key& key, const DocumentNode& node) {
  auto number = as_integer(node);
  if (!number) refuse(key, node, "it must be a whole number" + std::string(node.quoted ? " without quotes" : ""));
  if (*number < key.minimum) refuse(key, node, "it must be at least " + std::to_string(key.minimum));
  if (*number > key.maximum) refuse(key, node, "it can be at most " + std::to_string(key.maximum));
  return *number;
}

std::string read_text(const Key& key, const DocumentNode& node) {
  if (node.kind != DocumentNode::Kind::Text) refuse(key, node, "it must be a string");
  const auto& choices = key.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), node.text) != choices.end()) return node.text;
  auto flag = as_flag(node);
  if (flag && choices == std::vector<std::string>{"yes", "no"}) return *flag ? "yes" : "no";
  auto nearest = nearest_name(node.text, choices);
  refuse(key, node,
         "it can be " + listed(choices, " or ") + (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

std::vector<std::string> read_list(const Key& key, const DocumentNode& node) {
  if (node.kind != DocumentNode::Kind::List) refuse(key, node, "it must be a list");
  std::vector<std::string> texts;
  for (const auto& item : node.items) {
    if (item.kind != DocumentNode::Kind::Text) refuse(key, item, "it must be a list of strings");
    texts.push_back(item.text);
  }
  return texts;
}

/// Refuses an unknown key inside a section only if it looks like a typo: newer versions of Python's Accelerate add
/// keys, and DeepSpeed and Megatron-LM define their own.
void check_section_key(const Key& section, const DocumentNode& name) {
  if (name.kind != DocumentNode::Kind::Text) refuse(section, name, "a key must be a word");
  const auto& known = section.choices;
  if (std::find(known.begin(), known.end(), name.text) != known.end()) return;
  if (auto nearest = nearest_name(name.text, known); !nearest.empty()) {
    throw ValueError(name.position, section.name + ": unknown key '" + name.text + "'; did you mean " + nearest + "?");
  }
}

Section read_section(const Key& key, const DocumentNode& node) {
  if (node.kind != DocumentNode::Kind::Map)
    refuse(key, node, "it must be a section of keys and values, indented below it");
  Section section;
  for (size_t i = 0; i < node.keys.size(); ++i) {
    check_section_key(key, node.keys[i]);
    const auto& name = node.keys[i].text;
    try {
      if (!section.emplace(name, as_value(node.items[i])).second) {
        throw ValueError(node.keys[i].position, key.name + ": duplicate key '" + name + "'; keep one of them");
      }
    } catch (const ConfigError& error) {
      throw ValueError(node.items[i].position, key.name + ": " + name + " " + error.what());
    }
  }
  return section;
}

/// The value of an assignment, in the form that a file would have.
DocumentNode node_of(const Key& key, const std::string& text) {
  auto node = plain_text(text);
  bool is_list = std::holds_alternative<std::optional<std::vector<std::string>> LaunchConfig::*>(key.member);
  if (!is_list || is_null(node)) return node;
  node.kind = DocumentNode::Kind::List;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) node.items.push_back(plain_text(part));
  return node;
}

void assign_in_section(LaunchConfig& config, const Key& key, const std::string& name, const std::string& value) {
  const auto* member = std::get_if<Section LaunchConfig::*>(&key.member);
  if (member == nullptr) throw ConfigError(key.name + " is a single value, it has no '" + name + "' inside");
  check_section_key(key, plain_text(name));
  auto& section = config.*(*member);
  if (is_null(plain_text(value))) {
    section.erase(name);
  } else {
    section[name] = as_value(plain_text(value));
  }
}

}  // namespace

std::string unknown_key_message(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& key : keys()) names.push_back(key.name);
  auto nearest = nearest_name(name, names);
  return "unknown key '" + name.substr(0, 80) + "'" +
         (nearest.empty() ? "; remove it, or update accelerate if a newer version wrote it"
                          : "; did you mean " + nearest + "?");
}

void assign(LaunchConfig& config, const Key& key, const DocumentNode& node) {
  std::visit(
      [&](auto member) {
        auto& target = config.*member;
        using Target = std::remove_reference_t<decltype(target)>;
        if (is_null(node)) {
          target = Target();
        } else if constexpr (std::is_same_v<Target, std::optional<bool>>) {
          target = read_flag(key, node);
        } else if constexpr (std::is_same_v<Target, std::optional<int64_t>>) {
          target = read_integer(key, node);
        } else if constexpr (std::is_same_v<Target, std::optional<std::string>>) {
          target = read_text(key, node);
        } else if constexpr (std::is_same_v<Target, Section>) {
          target = read_section(key, node);
        } else {
          target = read_list(key, node);
        }
      },
      key.member);
}

void assign_text(LaunchConfig& config, const std::string& assignment) {
  auto equals = assignment.find('=');
  if (equals == std::string::npos) throw ConfigError("'" + assignment + "' is not an assignment; write key=value");
  auto name = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  auto dot = name.find('.');
  const auto* key = find_key(name.substr(0, dot));
  if (key == nullptr) throw ConfigError(assignment + ": " + unknown_key_message(name.substr(0, dot)));
  try {
    if (dot != std::string::npos) {
      assign_in_section(config, *key, name.substr(dot + 1), value);
    } else {
      assign(config, *key, node_of(*key, value));
    }
  } catch (const Error& error) {
    throw ConfigError(assignment + ": " + error.what());
  }
}

}  // namespace accelerate::config
