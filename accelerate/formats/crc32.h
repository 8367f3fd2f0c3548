#pragma once

// CRC-32, the checksum of zip files.

#include <cstdint>
#include <string_view>

namespace accelerate::formats {

/// Extends `before`, the CRC-32 of the preceding bytes, by `bytes`.
uint32_t crc32(std::string_view bytes, uint32_t before = 0);

}  // namespace accelerate::formats
