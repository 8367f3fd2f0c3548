#pragma once

// The file names in a checkpoint: those of Python's Accelerate, and one of our own.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace accelerate::checkpoint {

inline constexpr const char* kScalerFile = "scaler.pt";

/// "model.safetensors", "model_1.safetensors", ...
std::string model_file(size_t index);
/// "pytorch_model.bin", "pytorch_model_1.bin", ...: models without safe_serialization.
std::string torch_model_file(size_t index);
/// "optimizer.bin", "optimizer_1.bin", ...
std::string optimizer_file(size_t index);
/// "scheduler.bin", "scheduler_1.bin", ...
std::string scheduler_file(size_t index);
/// "custom_checkpoint_0.pkl", ...
std::string custom_object_file(size_t index);
/// "random_states_0.pkl", ...
std::string random_states_file(int rank);
/// "loop_state_0.bin", ...: our own, see loop_state.h. Python ignores it.
std::string loop_state_file(int rank);

/// Returns the ranks with a file `name(rank)` in the directory, sorted. On local disks these are the ranks of one
/// machine; a folder from elsewhere has none.
std::vector<int> ranks_with_file(const std::filesystem::path& directory, std::string (*name)(int));

/// Returns the number of files `name(0)`, `name(1)`, ... in the directory, up to the first missing one.
template <class Index>
size_t count_files(const std::filesystem::path& directory, std::string (*name)(Index)) {
  size_t count = 0;
  while (std::filesystem::exists(directory / name(static_cast<Index>(count)))) ++count;
  return count;
}

}  // namespace accelerate::checkpoint
