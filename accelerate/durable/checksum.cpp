#include "accelerate/durable/checksum.h"

#define XXH_INLINE_ALL  // the header alone, so that a program needs no library at run time
#include <xxhash.h>

namespace accelerate::durable {

struct Checksum::State {
  XXH3_state_t xxh3;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh3); }
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum::~Checksum() = default;

void Checksum::add(std::string_view bytes) { XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size()); }

uint64_t Checksum::value() const { return XXH3_64bits_digest(&state_->xxh3); }

uint64_t checksum_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

uint64_t checksum_of(const File& file) {
  Checksum checksum;
  file.read_pieces(0, file.bytes(), [&](std::string_view piece) { checksum.add(piece); });
  return checksum.value();
}

}  // namespace accelerate::durable
