#pragma once

// CRC-32 (IEEE 802.3), the checksum of zip and PNG files. Processors with PCLMULQDQ compute it at memory speed, ten
// times as fast as tables, by the method of Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction" (Intel, 2009). zlib's crc32 uses tables on x86.

#include <cstdint>
#include <string_view>

namespace accelerate::formats {

/// Extends `before`, the CRC-32 of the preceding bytes, by `bytes`.
uint32_t crc32(std::string_view bytes, uint32_t before = 0);

}  // namespace accelerate::formats
