#pragma once

// Reads and checks a checkpoint before anything is changed.

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
  bool verify = true;          // verify checksums inside large torch files; not needed after the manifest was verified
};

/// A checkpoint that was read and fits the program. All ranks have the same number of changes in the same order, since
/// some of them are collective.
struct CheckedFiles {
  std::vector<std::function<void()>> loads_of_user = {};  // may throw: only the object itself can check its state
  std::vector<std::function<void()>> changes = {};        // all others, in order
  PythonGenerators python = {};
};

/// Reads all that this rank needs and compares it with the program. Changes nothing itself: the caller runs the result.
/// `models` are the models to load: those that the load hooks have not removed. Throws Error with a list of everything
/// that does not fit: different numbers of models, optimizers, schedulers or registered objects, different names and
/// shapes, and missing, damaged or invalid files.
CheckedFiles check_files(const std::filesystem::path& directory, const TrainingState& state, const Models& models,
                         const LoadFilesOptions& options);

}  // namespace accelerate::checkpoint
