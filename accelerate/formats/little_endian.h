#pragma once

// Little-endian numbers, as used by several file formats.

#include <cstdint>
#include <string>

namespace accelerate::formats {

/// Appends the lowest `num_bytes` bytes of `value`.
inline void append_little_endian(std::string& bytes, uint64_t value, int num_bytes) {
  for (int i = 0; i < num_bytes; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace accelerate::formats
