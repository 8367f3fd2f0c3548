#pragma once

// Texts in a c10d store, which keeps bytes.

#include <cstdint>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace accelerate::comm {

inline std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

/// Waits for the key, as long as the store does.
inline std::string text_of(c10d::Store& store, const std::string& key) {
  auto bytes = store.get(key);
  return {bytes.begin(), bytes.end()};
}

}  // namespace accelerate::comm
