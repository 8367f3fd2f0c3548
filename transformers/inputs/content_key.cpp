#include "transformers/inputs/content_key.h"

#include <cstring>

namespace transformers::inputs {

void ContentKey::add(std::string_view part) {
  add(static_cast<int64_t>(part.size()));
  mix(part);
}

void ContentKey::add(int64_t number) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  mix({bytes, sizeof(bytes)});
}

void ContentKey::mix(std::string_view bytes) {
  constexpr unsigned __int128 kPrime = (static_cast<unsigned __int128>(1) << 88) + 0x13b;
  for (unsigned char byte : bytes) hash_ = (hash_ ^ byte) * kPrime;
}

std::string ContentKey::name() const {
  std::string digits;
  for (int shift = 124; shift >= 0; shift -= 4) digits += "0123456789abcdef"[static_cast<int>(hash_ >> shift) & 15];
  return digits;
}

}  // namespace transformers::inputs
