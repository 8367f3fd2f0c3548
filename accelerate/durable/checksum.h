#pragma once

// The checksum of a file's content: XXH3 with 64 bits. It keeps up with memory (500 MB in 0.11 s, of which reading is
// the larger part), unlike a cryptographic hash; twice the bits of CRC32C make an accident that nobody sees improbable
// in files of gigabytes; and it needs no special instruction of the processor. It finds accidents, and is no protection
// against somebody who changes files on purpose.

#include <cstdint>
#include <memory>
#include <string_view>

#include "accelerate/base/file.h"

namespace accelerate::durable {

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

/// The checksum of a whole file, read in pieces. Throws Error when it cannot be read.
uint64_t checksum_of(const File& file);

}  // namespace accelerate::durable
