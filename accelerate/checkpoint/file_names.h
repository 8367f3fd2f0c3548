#pragma once

// What the files of a checkpoint are called: the names of Python's Accelerate, and one of our own.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace accelerate::checkpoint {

inline constexpr const char* kScalerFile = "scaler.pt";

/// "model.safetensors", "model_1.safetensors", ...
std::string model_file(size_t index);
/// "pytorch_model.bin", "pytorch_model_1.bin", ...: what models are written to without safe_serialization.
std::string torch_model_file(size_t index);
/// "optimizer.bin", "optimizer_1.bin", ...
std::string optimizer_file(size_t index);
/// "scheduler.bin", "scheduler_1.bin", ...
std::string scheduler_file(size_t index);
/// "custom_checkpoint_0.pkl", ...
std::string custom_object_file(size_t index);
/// "random_states_0.pkl", ...
std::string random_states_file(int rank);
/// "loop_state_0.bin", ...: ours, see loop_state.h. Python passes over it.
std::string loop_state_file(int rank);

/// The ranks whose files called `name(rank)` a directory has, in their order: those of one machine where each has a
/// disk of its own, and none in a folder from elsewhere.
std::vector<int> ranks_with_file(const std::filesystem::path& directory, std::string (*name)(int));

/// How many files called `name(0)`, `name(1)`, ... a directory has, up to the first that is missing.
template <class Index>
size_t count_files(const std::filesystem::path& directory, std::string (*name)(Index)) {
  size_t count = 0;
  while (std::filesystem::exists(directory / name(static_cast<Index>(count)))) ++count;
  return count;
}

}  // namespace accelerate::checkpoint
