#pragma once

// The checksum of zip files.

#include <cstdint>
#include <string_view>

namespace accelerate::formats {

/// CRC-32 of bytes that follow others whose CRC-32 is `before`.
uint32_t crc32(std::string_view bytes, uint32_t before = 0);

}  // namespace accelerate::formats
