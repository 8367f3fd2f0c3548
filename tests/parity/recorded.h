#pragma once

// What the Python packages gave, and tensors in the form in which it is recorded. Numbers in the files read back
// exactly, so comparing JSON compares bits.

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
/// with the committed one; before that has run, the committed one. It stays, so that loops may go over a part of it.
inline const json& recorded(const std::string& topic) {
  static std::map<std::string, json> read;
  if (const auto found = read.find(topic); found != read.end()) return found->second;
  auto file_name = "/tests/parity/" + topic + "/reference.json";
  std::ifstream file(ACCELERATE_BINARY_DIR + file_name);
  if (!file) file.open(ACCELERATE_SOURCE_DIR + file_name);
  if (!file) fail(ACCELERATE_SOURCE_DIR, file_name, ": cannot be read; make_reference.py beside it writes it");
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
