#pragma once

// CRC-32 with PCLMULQDQ (Gopal et al., Intel 2009), if the processor has it: at memory speed, ten times as fast as
// tables.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace accelerate::formats {

constexpr size_t kFoldedBytes = 64;  // block size

/// Whether this processor supports it.
bool can_fold_crc32();

/// Folds `bytes` into sixteen bytes whose CRC with initial value 0 equals the CRC of `bytes` with initial value `sum`.
/// The size is a positive multiple of kFoldedBytes.
std::array<char, 16> fold_crc32(std::string_view bytes, uint32_t sum);

}  // namespace accelerate::formats
