#include "accelerate/checkpoint/file_names.h"

#include <algorithm>
#include <charconv>

namespace accelerate::checkpoint {
namespace {

// Index 0 has no number.
std::string numbered(const std::string& stem, size_t index, const std::string& extension) {
  return stem + (index == 0 ? "" : "_" + std::to_string(index)) + extension;
}

}  // namespace

std::string model_file(size_t index) { return numbered("model", index, ".safetensors"); }
std::string torch_model_file(size_t index) { return numbered("pytorch_model", index, ".bin"); }
std::string optimizer_file(size_t index) { return numbered("optimizer", index, ".bin"); }
std::string scheduler_file(size_t index) { return numbered("scheduler", index, ".bin"); }
std::string custom_object_file(size_t index) { return "custom_checkpoint_" + std::to_string(index) + ".pkl"; }
std::string random_states_file(int rank) { return "random_states_" + std::to_string(rank) + ".pkl"; }
std::string loop_state_file(int rank) { return "loop_state_" + std::to_string(rank) + ".bin"; }

std::vector<int> ranks_with_file(const std::filesystem::path& directory, std::string (*name)(int)) {
  std::vector<int> ranks;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const auto file = entry.path().filename().string();
    const auto digits = std::min(file.find_first_of("0123456789"), file.size());
    int rank = -1;
    std::from_chars(file.data() + digits, file.data() + file.size(), rank);
    if (rank >= 0 && name(rank) == file) ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace accelerate::checkpoint
