#include "accelerate/formats/model_files.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ranges>
#include <regex>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/base/read_file.h"
#include "accelerate/base/text.h"
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

namespace fs = std::filesystem;

std::string ModelFileNames::file(size_t place, size_t count) const {
  if (count == 1) return name + extension;
  char part[48];
  std::snprintf(part, sizeof(part), "-%05zu-of-%05zu", place + 1, count);
  return name + part + extension;
}

std::string ModelFileNames::index() const { return name + extension + ".index.json"; }

void remove_other_model_files(const fs::path& directory, const ModelFileNames& names,
                              const std::set<std::string>& kept) {
  const auto extension = std::regex_replace(names.extension, std::regex("\\."), "\\.");
  const std::regex shard(names.name + "-\\d{5}-of-\\d{5}" + extension);
  // An index without one of its shards would be a model that cannot be loaded, so the index is removed first, durably.
  // If a single file exists too, that is the model until it is removed.
  for (const auto& name : {names.index(), names.file(0, 1)}) {
    if (!kept.contains(name) && fs::remove(directory / name)) sync_directory(directory);
  }
  for (const auto& entry : fs::directory_iterator(directory)) {
    auto name = entry.path().filename().string();
    if (std::regex_match(name, shard) && !kept.contains(name)) fs::remove(entry.path());
  }
  sync_directory(directory);
}

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
