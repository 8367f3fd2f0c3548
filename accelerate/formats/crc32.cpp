#include "accelerate/formats/crc32.h"

#include <array>
#include <bit>
#include <cstring>

namespace accelerate::formats {

namespace {

constexpr uint32_t kPolynomial = 0xedb88320;  // of IEEE 802.3, bits reversed
constexpr size_t kSlices = 16;

/// kTables[k][b]: what the byte b contributes to the checksum when k bytes follow it.
constexpr auto kTables = [] {
  std::array<std::array<uint32_t, 256>, kSlices> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? kPolynomial : 0);
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

}  // namespace

uint32_t crc32(std::string_view bytes, uint32_t before) {
  static_assert(std::endian::native == std::endian::little);
  uint32_t sum = ~before;
  // Sixteen bytes at a time: their lookups do not wait for each other.
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
  return ~sum;
}

}  // namespace accelerate::formats
