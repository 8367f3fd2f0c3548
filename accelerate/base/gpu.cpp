#include "accelerate/base/gpu.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace accelerate {

int count_gpus(const std::string& directory) {
  std::error_code error;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    auto name = entry.path().filename().string();
    auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    if (name.starts_with("nvidia") && name.size() > 6 && std::all_of(name.begin() + 6, name.end(), is_digit)) ++count;
  }
  return count;
}

}  // namespace accelerate
