#include "accelerate/formats/crc32_folding.h"

#include "accelerate/formats/crc32_polynomial.h"

#if defined(__x86_64__)

#include <immintrin.h>

namespace accelerate::formats {

namespace {

/// x^exponent modulo the polynomial, in the form for products of bit-reflected numbers.
constexpr int64_t power_of_x(int exponent) {
  uint32_t power = uint32_t{1} << 31;
  for (; exponent > 0; --exponent) power = times_x(power);
  return static_cast<int64_t>(power) << 1;
}

/// The constants that shift sixteen bytes by `distance` bytes: for their second and their first half.
template <int distance>
[[gnu::target("pclmul,sse4.1")]] __m128i factors() {
  return _mm_set_epi64x(power_of_x(distance * 8 - 32), power_of_x(distance * 8 + 32));
}

[[gnu::target("pclmul,sse4.1")]] __m128i moved(__m128i bytes, __m128i factors) {
  return _mm_xor_si128(_mm_clmulepi64_si128(bytes, factors, 0x00), _mm_clmulepi64_si128(bytes, factors, 0x11));
}

[[gnu::target("pclmul,sse4.1")]] __m128i load(const char* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

}  // namespace

bool can_fold_crc32() { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"); }

[[gnu::target("pclmul,sse4.1")]] std::array<char, 16> fold_crc32(std::string_view bytes, uint32_t sum) {
  const char* next = bytes.data();
  const char* end = next + bytes.size();
  // Four independent lanes hide the latency of the multiplication.
  __m128i lanes[4] = {load(next), load(next + 16), load(next + 32), load(next + 48)};
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(sum)));
  const __m128i over_four = factors<64>(), over_one = factors<16>();
  for (next += kFoldedBytes; next != end; next += kFoldedBytes) {
    for (int i = 0; i < 4; ++i) lanes[i] = _mm_xor_si128(moved(lanes[i], over_four), load(next + 16 * i));
  }
  for (int i = 1; i < 4; ++i) lanes[i] = _mm_xor_si128(moved(lanes[i - 1], over_one), lanes[i]);
  std::array<char, 16> rest;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest.data()), lanes[3]);
  return rest;
}

}  // namespace accelerate::formats

#else

namespace accelerate::formats {

bool can_fold_crc32() { return false; }
std::array<char, 16> fold_crc32(std::string_view, uint32_t) { return {}; }

}  // namespace accelerate::formats

#endif
