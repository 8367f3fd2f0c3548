#pragma once

// The directories of a run and the naming of its checkpoints.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace accelerate {

struct ProjectConfiguration {
  std::filesystem::path project_dir = {};    // directory of checkpoints; empty: not set
  std::filesystem::path logging_dir = {};    // directory of tracker files; empty: project_dir
  bool automatic_checkpoint_naming = false;  // save_state() creates project_dir/checkpoints/checkpoint_<iteration>
  std::optional<int64_t> total_limit = std::nullopt;  // number of these checkpoints to keep, the newest; at least 1
  int64_t iteration = 0;                              // the number of the next checkpoint
  bool save_on_each_node = false;  // one process per machine writes, for disks that are not shared: see resume.md
};

}  // namespace accelerate
