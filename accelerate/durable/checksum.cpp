#include "accelerate/durable/checksum.h"

#include <algorithm>
#include <array>

#define XXH_INLINE_ALL  // the header alone, so that a program needs no library at run time
#include <xxhash.h>

namespace accelerate::durable {

namespace {

/// Streaming XXH3.
class Xxh3 {
 public:
  Xxh3() { reset(); }
  void reset() { XXH3_64bits_reset(&state_); }
  void add(std::string_view bytes) { XXH3_64bits_update(&state_, bytes.data(), bytes.size()); }
  uint64_t value() const { return XXH3_64bits_digest(&state_); }

  /// Adds a number in little-endian byte order.
  void add_number(uint64_t number) {
    std::array<char, 8> bytes;
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(number >> 8 * i);
    add({bytes.data(), bytes.size()});
  }

 private:
  XXH3_state_t state_;
};

}  // namespace

struct Checksum::State {
  Xxh3 pieces;  // the hashes of full pieces
  Xxh3 piece;   // the current one
  uint64_t piece_bytes = 0;
};

Checksum::Checksum() : state_(std::make_unique<State>()) {}
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum::~Checksum() = default;

void Checksum::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto part = bytes.substr(0, kChecksumPieceBytes - state_->piece_bytes);
    state_->piece.add(part);
    state_->piece_bytes += part.size();
    bytes.remove_prefix(part.size());
    if (state_->piece_bytes < kChecksumPieceBytes) return;
    state_->pieces.add_number(state_->piece.value());
    state_->piece.reset();
    state_->piece_bytes = 0;
  }
}

uint64_t Checksum::value() const {
  auto pieces = state_->pieces;
  if (state_->piece_bytes > 0) pieces.add_number(state_->piece.value());
  return pieces.value();
}

uint64_t checksum_of(std::string_view bytes) {
  Checksum checksum;
  checksum.add(bytes);
  return checksum.value();
}

uint64_t checksum_of(const File& file) {
  Checksum checksum;
  file.read_pieces(0, file.bytes(), [&](std::string_view part) { checksum.add(part); });
  return checksum.value();
}

uint64_t checksum_of_piece(const File& file, uint64_t begin, uint64_t file_bytes) {
  Xxh3 piece;
  file.read_pieces(begin, std::min(kChecksumPieceBytes, file_bytes - begin),
                   [&](std::string_view part) { piece.add(part); });
  return piece.value();
}

uint64_t checksum_of_pieces(const std::vector<uint64_t>& pieces) {
  Xxh3 all;
  for (auto piece : pieces) all.add_number(piece);
  return all.value();
}

}  // namespace accelerate::durable
