#pragma once

// Strings in a c10d store, which holds bytes.

#include <cstdint>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace accelerate::comm {

inline std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

/// Waits for the key, up to the timeout of the store.
inline std::string text_of(c10d::Store& store, const std::string& key) {
  auto bytes = store.get(key);
  return {bytes.begin(), bytes.end()};
}

}  // namespace accelerate::comm
