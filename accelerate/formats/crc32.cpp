#include "accelerate/formats/crc32.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace accelerate::formats {

namespace {

/// x times a bit-reflected polynomial, modulo the bit-reflected CRC-32 polynomial.
constexpr uint32_t times_x(uint32_t polynomial) { return polynomial >> 1 ^ (polynomial & 1 ? 0xedb88320 : 0); }

constexpr size_t kSlices = 16;

/// kTables[k][b]: the contribution of byte b to the checksum if k bytes follow it (slicing-by-16).
constexpr auto kTables = [] {
  std::array<std::array<uint32_t, 256>, kSlices> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = times_x(sum);
    tables[0][byte] = sum;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t sum = tables[slice - 1][byte];
      tables[slice][byte] = sum >> 8 ^ tables[0][sum & 0xff];
    }
  }
  return tables;
}();

/// Extends the CRC `sum` by `bytes`, without the final inversion.
uint32_t sum_by_tables(std::string_view bytes, uint32_t sum) {
  static_assert(std::endian::native == std::endian::little);
  // Sixteen bytes per iteration: their lookups are independent.
  for (; bytes.size() >= kSlices; bytes.remove_prefix(kSlices)) {
    std::array<uint8_t, kSlices> block;
    std::memcpy(block.data(), bytes.data(), kSlices);
    uint32_t first = 0;
    std::memcpy(&first, block.data(), sizeof(first));
    first ^= sum;
    std::memcpy(block.data(), &first, sizeof(first));
    sum = 0;
    for (size_t i = 0; i < kSlices; ++i) sum ^= kTables[kSlices - 1 - i][block[i]];
  }
  for (char byte : bytes) sum = sum >> 8 ^ kTables[0][(sum ^ static_cast<uint8_t>(byte)) & 0xff];
  return sum;
}

constexpr size_t kFoldedBytes = 64;  // block size

#if defined(__x86_64__)

/// Whether this processor can fold.
bool can_fold_crc32() { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"); }

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

[[gnu::target("pclmul,sse4.1")]] __m128i shifted(__m128i bytes, __m128i factors) {
  return _mm_xor_si128(_mm_clmulepi64_si128(bytes, factors, 0x00), _mm_clmulepi64_si128(bytes, factors, 0x11));
}

[[gnu::target("pclmul,sse4.1")]] __m128i load(const char* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

/// Folds `bytes` into sixteen bytes whose CRC with initial value 0 equals the CRC of `bytes` with initial value `sum`.
/// The size is a positive multiple of kFoldedBytes.
[[gnu::target("pclmul,sse4.1")]] std::array<char, 16> fold_crc32(std::string_view bytes, uint32_t sum) {
  const char* next = bytes.data();
  const char* end = next + bytes.size();
  // Four independent lanes hide the latency of the multiplication.
  __m128i lanes[4] = {load(next), load(next + 16), load(next + 32), load(next + 48)};
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(sum)));
  const __m128i over_four = factors<64>(), over_one = factors<16>();
  for (next += kFoldedBytes; next != end; next += kFoldedBytes) {
    for (int i = 0; i < 4; ++i) lanes[i] = _mm_xor_si128(shifted(lanes[i], over_four), load(next + 16 * i));
  }
  for (int i = 1; i < 4; ++i) lanes[i] = _mm_xor_si128(shifted(lanes[i - 1], over_one), lanes[i]);
  std::array<char, 16> rest;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest.data()), lanes[3]);
  return rest;
}

#else

bool can_fold_crc32() { return false; }
std::array<char, 16> fold_crc32(std::string_view, uint32_t) { return {}; }

#endif

}  // namespace

uint32_t crc32(std::string_view bytes, uint32_t before) {
  static const bool can_fold = can_fold_crc32();
  uint32_t sum = ~before;
  if (can_fold && bytes.size() >= kFoldedBytes) {
    const auto rest = fold_crc32(bytes.substr(0, bytes.size() / kFoldedBytes * kFoldedBytes), sum);
    sum = sum_by_tables({rest.data(), rest.size()}, 0);
    bytes.remove_prefix(bytes.size() / kFoldedBytes * kFoldedBytes);
  }
  return ~sum_by_tables(bytes, sum);
}

}  // namespace accelerate::formats
