#pragma once

// Where a run keeps what it leaves behind.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace accelerate {

struct ProjectConfiguration {
  std::filesystem::path project_dir = {};    // checkpoints go below it; empty: there is none
  std::filesystem::path logging_dir = {};    // trackers write below it; empty: project_dir
  bool automatic_checkpoint_naming = false;  // save_state() makes project_dir/checkpoints/checkpoint_<iteration>
  std::optional<int64_t> total_limit = std::nullopt;  // keep that many of those checkpoints, the newest; at least 1
  int64_t iteration = 0;                              // the number of the next checkpoint
  bool save_on_each_node = false;  // one process of each machine writes, for disks that are not shared: see resume.md
};

}  // namespace accelerate
