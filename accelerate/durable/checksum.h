#pragma once

// The checksum of a file's content: XXH3 with 64 bits. At about 20 GB/s it is never what one waits for, unlike a
// cryptographic hash; twice the bits of CRC32C make accidents in files of gigabytes improbable, and it needs no special
// instruction of the processor. It finds accidents; it is no protection against somebody who changes files on purpose.

#include <cstdint>
#include <string_view>

#include "accelerate/base/file.h"

namespace accelerate::durable {

/// The checksum of bytes in memory.
uint64_t checksum_of(std::string_view bytes);

/// The checksum of a whole file, read in pieces. Throws Error when it cannot be read.
uint64_t checksum_of(const File& file);

}  // namespace accelerate::durable
