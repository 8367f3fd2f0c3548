#include "accelerate/formats/model_file_names.h"

#include <cstdio>
#include <regex>

#include "accelerate/base/atomic_file.h"

namespace accelerate::formats {

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

}  // namespace accelerate::formats
