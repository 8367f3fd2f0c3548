#include "cli/commands.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/byte_size.h"
#include "accelerate/formats/model_files.h"
#include "accelerate/formats/safetensors/files.h"
#include "cli/command_line.h"

namespace accelerate::cli {

namespace {

namespace fs = std::filesystem;
using formats::SafetensorsShard;
using formats::ShardEntry;

struct MergeOptions {
  std::string checkpoint = {};
  std::string output = {};
  std::string max_shard_size = {};
  bool remove_checkpoint = false;
  bool unsafe_serialization = false;
};

void add_flags(CLI::App& app, MergeOptions& options) {
  app.add_option("checkpoint_directory", options.checkpoint,
                 "A directory with model.safetensors or its shards and index, or one file");
  app.add_option("output_path", options.output, "A directory, or a file that ends in .safetensors");
  app.add_option("--max_shard_size", options.max_shard_size, "Write shards of at most this size, such as 5GB")
      ->option_text("SIZE");
  app.add_flag("--remove_checkpoint_dir", options.remove_checkpoint, "Remove the input files after success");
  app.add_flag("--unsafe_serialization", options.unsafe_serialization, "Refused: Python's pickle files can run code");
}

/// All tensors by name, in the order of Python's writers.
std::vector<ShardEntry> tensors_of(const std::vector<SafetensorsShard>& shards) {
  std::vector<ShardEntry> tensors;
  for (const auto& shard : shards) {
    for (const auto& entry : shard.header.entries) tensors.push_back({&shard, entry});
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const ShardEntry& left, const ShardEntry& right) { return left.entry.name < right.entry.name; });
  return tensors;
}

std::map<std::string, std::string> metadata_of(const std::vector<SafetensorsShard>& shards) {
  auto metadata = shards.front().header.metadata;
  metadata.emplace("format", "pt");  // without which Python's Transformers refuses the file
  return metadata;
}

/// Throws Error if `directory`, in which shards are written, has input files: a new shard could overwrite one that is
/// still to be read.
void check_apart(const fs::path& directory, const std::vector<SafetensorsShard>& shards) {
  for (const auto& shard : shards) {
    if (fs::equivalent(fs::absolute(shard.path).parent_path(), directory)) {
      throw UsageError("the shards would be written next to their input files; choose another directory than " +
                       directory.string());
    }
  }
}

std::vector<fs::path> write_shards(const std::vector<std::vector<ShardEntry>>& groups, const fs::path& directory,
                                   const std::map<std::string, std::string>& metadata) {
  const formats::ModelFileNames names;
  nlohmann::json index = {{"metadata", nlohmann::json::object()}, {"weight_map", nlohmann::json::object()}};
  std::set<std::string> written = {names.index()};
  std::vector<fs::path> files;
  uint64_t total = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    auto name = names.file(i, groups.size());
    formats::write_safetensors(directory / name, groups[i], metadata);
    files.push_back(directory / name);
    written.insert(name);
    for (const auto& tensor : groups[i]) {
      index["weight_map"][tensor.entry.name] = name;
      total += tensor.bytes();
    }
  }
  index["metadata"]["total_size"] = total;
  write_file_atomically(directory / names.index(), index.dump(2) + "\n");
  formats::remove_other_model_files(directory, names, written);
  files.push_back(directory / names.index());
  return files;
}

uint64_t shard_bytes(const MergeOptions& options) {
  try {
    return parse_bytes(options.max_shard_size);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

std::vector<fs::path> write_model(const MergeOptions& options, const std::vector<SafetensorsShard>& shards) {
  auto tensors = tensors_of(shards);
  auto metadata = metadata_of(shards);
  fs::path output = options.output;
  bool to_file = output.extension() == ".safetensors";
  if (options.max_shard_size.empty()) {
    auto file = to_file ? output : output / formats::kSingleModelFile;
    if (file.has_parent_path()) fs::create_directories(file.parent_path());
    formats::write_safetensors(file, tensors, metadata);
    return {file};
  }
  auto max_bytes = shard_bytes(options);
  if (to_file) throw UsageError("--max_shard_size writes several files; give a directory instead of " + options.output);
  fs::create_directories(output);
  check_apart(output, shards);
  return write_shards(formats::divide_into_shards(tensors, max_bytes, std::mem_fn(&ShardEntry::bytes)), output,
                      metadata);
}

void remove_read(const MergeOptions& options, const std::vector<SafetensorsShard>& shards,
                 const std::vector<fs::path>& written) {
  auto paths = std::vector<fs::path>{fs::path(options.checkpoint) / formats::kModelIndexFile};
  for (const auto& shard : shards) paths.push_back(shard.path);
  for (const auto& path : paths) {
    std::error_code error;
    bool is_output = std::any_of(written.begin(), written.end(),
                                 [&](const fs::path& file) { return fs::equivalent(file, path, error); });
    if (!is_output) fs::remove(path, error);
  }
}

}  // namespace

int merge_weights_command(const std::vector<std::string>& arguments) {
  MergeOptions options;
  CLI::App app("Merges the shards of a model into one safetensors file, or splits a model into shards.",
               "accelerate merge-weights");
  add_flags(app, options);
  if (!parse_arguments(app, arguments)) return 0;
  if (options.output.empty()) throw UsageError("give an input directory and an output directory");
  if (options.unsafe_serialization) throw UsageError("pickle files cannot be written; omit the flag");

  auto shards = formats::open_safetensors_model(options.checkpoint);
  auto written = write_model(options, shards);
  if (options.remove_checkpoint) remove_read(options, shards, written);
  for (const auto& file : written) std::cout << file.string() << "  " << format_bytes(fs::file_size(file)) << "\n";
  return 0;
}

}  // namespace accelerate::cli
