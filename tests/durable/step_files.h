#pragma once

// Files that say which step they belong to, so that a checkpoint of files from two steps can be told from a sound one.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "accelerate/base/error.h"
#include "accelerate/durable/checkpoints.h"
#include "accelerate/durable/seal.h"
#include "accelerate/durable/verify.h"

namespace accelerate::tests {

/// A file of a stage, not yet sealed.
inline durable::SealedFile write_step_file(const std::filesystem::path& directory, const std::string& name,
                                           int64_t step, int64_t kilobytes) {
  durable::SealedFile file(directory, name);
  std::string line = "step " + std::to_string(step) + "\n";
  std::string piece;
  while (piece.size() < 4000) piece += line;
  for (int64_t i = 0; i < kilobytes; i += 4) file.append(piece);
  return file;
}

inline int64_t step_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  int64_t step = -1;
  file >> word >> step;
  if (word != "step" || step < 0) fail(path.string(), ": says no step");
  return step;
}

/// The step of a checkpoint. Throws Error when it cannot be loaded or when its files are of different steps.
inline int64_t step_of(const std::filesystem::path& checkpoint) {
  auto manifest = durable::verify(checkpoint);
  if (!manifest) fail(checkpoint.string(), ": has no manifest");
  auto step = step_in(checkpoint / manifest->files.at(0).name);
  for (const auto& file : manifest->files) {
    if (step_in(checkpoint / file.name) != step) fail(checkpoint.string(), ": is torn, its files are of several steps");
  }
  return step;
}

/// What a job would go on from: nothing when nothing was saved. In the mode `overwrite` the directory is the
/// checkpoint, otherwise it holds numbered ones.
inline std::optional<int64_t> newest_step(const std::string& mode, const std::filesystem::path& directory) {
  if (mode == "overwrite") {
    durable::restore(directory);
    return std::filesystem::exists(directory) ? std::optional(step_of(directory)) : std::nullopt;
  }
  auto newest = durable::newest_checkpoint(directory);
  return newest ? std::optional(step_of(newest->path)) : std::nullopt;
}

}  // namespace accelerate::tests
