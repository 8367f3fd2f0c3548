#include "accelerate/formats/shard_index.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/formats/json_structure.h"

namespace accelerate::formats {

namespace {

/// A name of letters, digits and `_.-` cannot lead out of a directory, and one that begins with a dot is nobody's
/// shard.
bool is_file_name(std::string_view name, std::string_view extension) {
  auto is_harmless = [](unsigned char character) {
    return std::isalnum(character) || character == '_' || character == '.' || character == '-';
  };
  return name.ends_with(extension) && !name.starts_with('.') && std::all_of(name.begin(), name.end(), is_harmless);
}

}  // namespace

std::set<std::string> decode_shard_index(std::string_view text, std::string_view extension, const std::string& source) {
  std::set<std::string> names;
  try {
    check_json_structure(text, source);
    auto json = nlohmann::json::parse(text);
    for (const auto& [tensor, file] : json.at("weight_map").items()) names.insert(file.get<std::string>());
  } catch (const nlohmann::json::exception& error) {
    fail(source, ": this is not the index of a model in shards: ", error.what());
  }
  for (const auto& name : names) {
    if (!is_file_name(name, extension)) {
      fail(source, ": the shard '", name, "' is no ", extension.substr(1), " file of this directory");
    }
  }
  return names;
}

std::vector<std::filesystem::path> shards_of_index(const std::filesystem::path& index, std::string_view extension) {
  auto file = File::open(index);
  std::string text(file.bytes(), '\0');
  file.read_at(0, text.data(), text.size());
  std::vector<std::filesystem::path> shards;
  for (const auto& name : decode_shard_index(text, extension, index.string())) {
    shards.push_back(index.parent_path() / name);
    if (!std::filesystem::exists(shards.back())) fail(index.string(), ": the shard ", name, " is missing");
  }
  return shards;
}

}  // namespace accelerate::formats
