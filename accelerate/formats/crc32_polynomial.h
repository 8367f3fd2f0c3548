#pragma once

// The polynomial of CRC-32 (IEEE 802.3), bit-reflected.

#include <cstdint>

namespace accelerate::formats {

/// x times a bit-reflected polynomial, modulo the CRC-32 polynomial.
constexpr uint32_t times_x(uint32_t polynomial) { return polynomial >> 1 ^ (polynomial & 1 ? 0xedb88320 : 0); }

}  // namespace accelerate::formats
