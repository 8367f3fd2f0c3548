#pragma once

// The checksum of a file: XXH3-64 over the XXH3-64 of each of its pieces (a hash tree of depth two), so that several
// threads can compute it. XXH3 runs at memory speed, needs no special instruction, and has twice the bits of CRC32C,
// which makes an undetected accident improbable in files of gigabytes. It is not cryptographic: it detects accidents,
// not tampering.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "accelerate/base/file.h"

namespace accelerate::durable {

/// The size of a piece. The last piece of a file may be shorter; an empty file has no pieces.
inline constexpr uint64_t kChecksumPieceBytes = uint64_t{4} << 20;

/// A streaming checksum.
class Checksum {
 public:
  Checksum();
  Checksum(Checksum&&) noexcept;
  ~Checksum();

  void add(std::string_view bytes);
  /// The checksum of all bytes added so far.
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The checksum of bytes in memory.
uint64_t checksum_of(std::string_view bytes);

/// The checksum of a whole file, read in small parts. Throws Error if it cannot be read.
uint64_t checksum_of(const File& file);

/// The hash of the piece at `begin` in a file of `file_bytes`. Throws Error if it cannot be read.
uint64_t checksum_of_piece(const File& file, uint64_t begin, uint64_t file_bytes);

/// The checksum of a file from the hashes of its pieces, in order.
uint64_t checksum_of_pieces(const std::vector<uint64_t>& pieces);

}  // namespace accelerate::durable
