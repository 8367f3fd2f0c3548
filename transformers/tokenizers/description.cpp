#include "transformers/tokenizers/description.h"

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"
#include "accelerate/base/utf8.h"

namespace transformers::tokenizers {

using accelerate::count_characters;

using accelerate::fail;

namespace {

std::string shown(const nlohmann::json& value) {
  constexpr size_t kShownBytes = 60;
  std::string text = value.dump();
  if (text.size() > kShownBytes) text.replace(kShownBytes, std::string::npos, "...");
  return text;
}

}  // namespace

std::string component_type(const nlohmann::json& description, std::string_view family) {
  auto type = description.is_object() ? description.find("type") : description.end();
  if (type == description.end() || !type->is_string()) {
    fail("the ", family, " is ", shown(description), "; it must be an object with a 'type'");
  }
  return type->get<std::string>();
}

void fail_unknown_type(std::string_view family, std::string_view type, std::initializer_list<std::string_view> known) {
  fail("the ", family, " '", type, "' is unknown; it can be ", accelerate::listed(known));
}

void fail_field(const nlohmann::json& description, const char* name, std::string_view expected) {
  if (!description.is_object()) fail(shown(description), " is used instead of an object with the field '", name, "'");
  auto kind = description.find("type");
  bool has_type = kind != description.end() && kind->is_string();
  auto type = has_type ? kind->get<std::string>() : "a component without a type";
  auto found = description.find(name);
  if (found == description.end()) fail(type, ": the field '", name, "' is missing; it must be ", expected);
  fail(type, ": the field '", name, "' is ", shown(*found), "; it must be ", expected);
}

const nlohmann::json& list_field(const nlohmann::json& description, const char* name) {
  auto found = description.find(name);
  if (found == description.end() || !found->is_array()) fail_field(description, name, "a list");
  return *found;
}

const nlohmann::json& object_field(const nlohmann::json& description, const char* name) {
  auto found = description.find(name);
  if (found == description.end() || !found->is_object()) fail_field(description, name, "an object");
  return *found;
}

std::string character_field(const nlohmann::json& description, const char* name) {
  auto text = field<std::string>(description, name);
  if (count_characters(text) != 1) fail_field(description, name, "a string of one character");
  return text;
}

}  // namespace transformers::tokenizers
