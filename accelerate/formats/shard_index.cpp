#include "accelerate/formats/shard_index.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <ranges>

#include "accelerate/base/error.h"
#include "accelerate/base/listed.h"
#include "accelerate/base/log.h"
#include "accelerate/base/read_file.h"
#include "accelerate/formats/json_structure.h"

namespace accelerate::formats {

namespace {

/// A name of letters, digits and `_.-` cannot escape a directory. Hidden files are never shards.
bool is_file_name(std::string_view name, std::string_view extension) {
  auto is_harmless = [](unsigned char character) {
    return std::isalnum(character) || character == '_' || character == '.' || character == '-';
  };
  return name.ends_with(extension) && !name.starts_with('.') && std::all_of(name.begin(), name.end(), is_harmless);
}

/// The names in `some` that are not in `others`, separated by commas.
std::string difference(const std::set<std::string>& some, const std::set<std::string>& others) {
  return listed(some | std::views::filter([&](const std::string& name) { return !others.contains(name); }));
}

}  // namespace

std::map<std::string, std::set<std::string>> decode_shard_index(std::string_view text, std::string_view extension,
                                                                const std::string& source) {
  std::map<std::string, std::set<std::string>> shards;
  try {
    check_json_structure(text, source);
    auto json = nlohmann::json::parse(text);
    for (const auto& [tensor, file] : json.at("weight_map").items()) shards[file.get<std::string>()].insert(tensor);
  } catch (const nlohmann::json::exception& error) {
    fail(source, ": this is not the index of a sharded model: ", error.what());
  }
  for (const auto& [name, tensors] : shards) {
    if (!is_file_name(name, extension)) {
      fail(source, ": the shard '", name, "' is not a ", extension.substr(1), " file in this directory");
    }
  }
  return shards;
}

std::vector<IndexedShard> shards_of_index(const std::filesystem::path& index, std::string_view extension) {
  std::vector<IndexedShard> shards;
  for (auto& [name, tensors] : decode_shard_index(read_file(index), extension, index.string())) {
    shards.push_back({.path = index.parent_path() / name, .tensors = tensors});
    if (!std::filesystem::exists(shards.back().path)) fail(index.string(), ": the shard ", name, " is missing");
  }
  return shards;
}

void check_shard(const IndexedShard& shard, const std::set<std::string>& held) {
  if (const auto lacking = difference(shard.tensors, held); !lacking.empty()) {
    fail(shard.path.string(), ": lacks tensors that the index lists for it: ", lacking,
         "; the index and all shards must come from the same model");
  }
  if (const auto more = difference(held, shard.tensors); !more.empty()) {
    get_logger("accelerate.formats")
        .warning(shard.path.string() + ": contains tensors that the index does not list: " + more);
  }
}

}  // namespace accelerate::formats
