#pragma once

// float16 and bfloat16 to and from float32. Branch-free, so that compilers vectorise loops over them on any machine.
// Not c10::Half: this room does without libtorch.

#include <bit>
#include <cstdint>

namespace accelerate::shared_memory {

/// IEEE half precision.
struct Float16 {
  uint16_t bits;
};

/// The upper half of a float32.
struct BFloat16 {
  uint16_t bits;
};

/// `condition ? yes : no` with a bit mask. Compilers may turn `?:` into a branch.
inline uint32_t choose(bool condition, uint32_t yes, uint32_t no) {
  uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

/// Exact: every half-precision number is a float.
inline float widen(BFloat16 value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

/// Exact, with subnormal numbers, infinities and NaN.
inline float widen(Float16 value) {
  uint32_t magnitude = (value.bits & 0x7fffu) << 13;
  // The product changes the exponent bias from 15 to 127. It also converts subnormal halves to normal floats.
  float finite = std::bit_cast<float>(magnitude) * 0x1p112f;
  uint32_t bits = choose(magnitude >= 0x0f800000u, magnitude | 0x7f800000u, std::bit_cast<uint32_t>(finite));
  return std::bit_cast<float>(bits | (value.bits & 0x8000u) << 16);
}

/// Rounds to the nearest, ties to even.
inline void narrow(float value, BFloat16& result) {
  auto bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  result.bits = static_cast<uint16_t>(choose(value != value, 0x7fc0u, rounded));
}

/// Rounds to the nearest, ties to even.
inline void narrow(float value, Float16& result) {
  auto bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  // For a subnormal half: the last bit of a float near 0.5 is 2^-24, like that of a subnormal half, so the sum rounds
  // to it.
  uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t normal = (magnitude - 0x38000000u + 0x0fffu + (magnitude >> 13 & 1u)) >> 13;
  uint32_t half = choose(magnitude < 0x38800000u, small, normal);
  half = choose(magnitude >= 0x477ff000u, 0x7c00u, half);
  half = choose(magnitude > 0x7f800000u, 0x7e00u, half);
  result.bits = static_cast<uint16_t>(sign | half);
}

}  // namespace accelerate::shared_memory
