#pragma once

// What the Python packages gave, and tensors in the form in which it is recorded. Numbers in the files read back
// exactly, so comparing JSON compares bits.

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"

namespace accelerate::tests {

using nlohmann::json;

/// The reference of a topic as the test parity_reference_<topic> wrote it on this machine, after which it compared it
/// with the committed one. The committed one itself if that has not run, or if the committed one has changed since. It
/// stays, so that loops may go over a part of it.
inline const json& recorded(const std::string& topic) {
  static std::map<std::string, json> read;
  if (const auto found = read.find(topic); found != read.end()) return found->second;
  const std::filesystem::path name = "tests/parity/" + topic + "/reference.json";
  const auto committed = ACCELERATE_SOURCE_DIR / name, written_here = ACCELERATE_BINARY_DIR / name;
  const bool is_current = std::filesystem::exists(written_here) &&
                          std::filesystem::last_write_time(written_here) >= std::filesystem::last_write_time(committed);
  std::ifstream file(is_current ? written_here : committed);
  if (!file) fail(committed.string(), ": cannot be read; make_reference.py beside it writes it");
  return read[topic] = json::parse(file);
}

/// Nested lists, as Python's tolist().
inline json as_json(const at::Tensor& tensor) {
  if (tensor.dim() == 0) {
    if (tensor.is_floating_point()) return tensor.item<double>();
    return tensor.item<int64_t>();
  }
  auto list = json::array();
  for (const auto& part : tensor.unbind()) list.push_back(as_json(part));
  return list;
}

}  // namespace accelerate::tests
