#pragma once

// A small directory saved as a checkpoint is, for the tests of this room.

#include <filesystem>
#include <fstream>
#include <string>

#include "accelerate/durable/seal.h"
#include "accelerate/durable/stage.h"

namespace accelerate::tests {

inline void write_into(const durable::Stage& stage, const std::string& name, const std::string& text) {
  std::filesystem::create_directories((stage.path() / name).parent_path());
  std::ofstream(stage.path() / name, std::ios::binary) << text;
}

/// Fills a stage with a model and an optimizer that both say `text`, and commits it.
inline void fill_and_commit(durable::Stage& stage, const std::string& text) {
  write_into(stage, "model.safetensors", text);
  write_into(stage, "optimizer.bin", text + text);
  stage.commit(
      {durable::seal_file(stage.path(), "model.safetensors"), durable::seal_file(stage.path(), "optimizer.bin")},
      {{"step", text}});
}

inline void save(const std::filesystem::path& target, const std::string& text) {
  durable::Stage stage(target);
  fill_and_commit(stage, text);
}

}  // namespace accelerate::tests
