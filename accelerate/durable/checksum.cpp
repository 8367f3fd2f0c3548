#include "accelerate/durable/checksum.h"

#include <algorithm>
#include <vector>

#define XXH_INLINE_ALL  // the header alone, so that a program needs no library at run time
#include <xxhash.h>

namespace accelerate::durable {

uint64_t checksum_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

uint64_t checksum_of(const File& file) {
  constexpr uint64_t kPieceBytes = uint64_t{1} << 20;  // fits the cache, so that each byte comes from memory once
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  const uint64_t bytes = file.bytes();
  std::vector<char> piece(std::min(bytes, kPieceBytes));
  for (uint64_t position = 0; position < bytes; position += piece.size()) {
    piece.resize(std::min<uint64_t>(piece.size(), bytes - position));
    file.read_at(position, piece.data(), piece.size());
    XXH3_64bits_update(&state, piece.data(), piece.size());
  }
  return XXH3_64bits_digest(&state);
}

}  // namespace accelerate::durable
