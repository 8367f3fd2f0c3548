#pragma once

// Numbers as files of several formats have them: the lowest byte first.

#include <cstdint>
#include <string>

namespace accelerate::formats {

/// Adds the lowest `num_bytes` bytes of `value`.
inline void append_little_endian(std::string& bytes, uint64_t value, int num_bytes) {
  for (int i = 0; i < num_bytes; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace accelerate::formats
