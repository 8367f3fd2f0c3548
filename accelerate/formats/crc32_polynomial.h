#pragma once

// The polynomial of CRC-32, that of IEEE 802.3, with its bits reversed as the checksum has them.

#include <cstdint>

namespace accelerate::formats {

/// The remainder of x times a polynomial, bits reversed.
constexpr uint32_t times_x(uint32_t polynomial) { return polynomial >> 1 ^ (polynomial & 1 ? 0xedb88320 : 0); }

}  // namespace accelerate::formats
