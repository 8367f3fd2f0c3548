#pragma once

// What a checkpoint would change in a program.

#include <filesystem>
#include <functional>
#include <vector>

#include "accelerate/checkpoint/python_generators.h"
#include "accelerate/checkpoint/training_state.h"

namespace accelerate::checkpoint {

struct LoadFilesOptions {
  int rank = 0;
  int world_size = 1;
  bool compare_models = true;  // false: the checkpoint may have more models than are to be loaded
  bool verify = true;          // compare large torch files with their own checksums; off where the manifest was
};

/// A checkpoint that was read and fits the program. Every rank has as many changes, in the same order: some of them
/// talk to the other ranks.
struct CheckedFiles {
  std::vector<std::function<void()>> loads_of_user = {};  // may throw: only the loading object knows what fits it
  std::vector<std::function<void()>> changes = {};        // all others, in the order in which they are to be made
  PythonGenerators python = {};
};

/// Reads all that this rank needs and compares it with the program, of which nothing changes before the changes are
/// made. `models` are those to be filled: what hooks have left of the program's. Throws Error that lists everything
/// that does not fit: other numbers of models, optimizers, schedulers or registered objects, other names and shapes,
/// and files that are missing, damaged or make no sense.
CheckedFiles check_files(const std::filesystem::path& directory, const TrainingState& state, const Models& models,
                         const LoadFilesOptions& options);

}  // namespace accelerate::checkpoint
