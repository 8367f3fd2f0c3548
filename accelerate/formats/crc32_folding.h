#pragma once

// The fast way to CRC-32, where the processor can multiply polynomials: as fast as memory is read, ten times as fast as
// tables.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace accelerate::formats {

constexpr size_t kFoldedBytes = 64;  // what is taken at a time

/// Whether this processor can do it.
bool can_fold_crc32();

/// Sixteen bytes whose checksum, begun with 0, is that of `bytes` begun with `sum`. Takes a multiple of kFoldedBytes,
/// at least one.
std::array<char, 16> fold_crc32(std::string_view bytes, uint32_t sum);

}  // namespace accelerate::formats
