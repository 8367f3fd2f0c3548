#include "accelerate/formats/crc32.h"

#include <array>
#include <bit>
#include <cstring>

#include "accelerate/formats/crc32_folding.h"
#include "accelerate/formats/crc32_polynomial.h"

namespace accelerate::formats {

namespace {

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
