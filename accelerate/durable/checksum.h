#pragma once

// The checksum of a file's content: XXH3 with 64 bits over the XXH3 of each of its pieces, so that several threads can
// compute it. XXH3 keeps up with memory (500 MB in 0.12 s, of which reading is the larger part), unlike a cryptographic
// hash; twice the bits of CRC32C make an accident that nobody sees improbable in files of gigabytes; and it needs no
// special instruction of the processor. It finds accidents, and is no protection against somebody who changes files on
// purpose.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "accelerate/base/file.h"

namespace accelerate::durable {

/// The size of a piece. The last one of a file is what remains; an empty file has none.
inline constexpr uint64_t kChecksumPieceBytes = uint64_t{4} << 20;

/// The checksum of bytes that come one after the other.
class Checksum {
 public:
  Checksum();
  Checksum(Checksum&&) noexcept;
  ~Checksum();

  void add(std::string_view bytes);
  /// Of all bytes so far.
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The checksum of bytes in memory.
uint64_t checksum_of(std::string_view bytes);

/// The checksum of a whole file, read in small parts. Throws Error when it cannot be read.
uint64_t checksum_of(const File& file);

/// What the piece at `begin` contributes to the checksum of a file of `file_bytes`. Throws Error when it cannot be
/// read.
uint64_t checksum_of_piece(const File& file, uint64_t begin, uint64_t file_bytes);

/// The checksum of a file from what its pieces contribute, in their order.
uint64_t checksum_of_pieces(const std::vector<uint64_t>& pieces);

}  // namespace accelerate::durable
