#include "accelerate/base/content_key.h"

#include <cstring>

#include "accelerate/base/read_file.h"

namespace accelerate {

ContentKey& ContentKey::add(std::string_view text) {
  add(static_cast<int64_t>(text.size()));
  mix(text);
  return *this;
}

ContentKey& ContentKey::add(int64_t number) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  mix({bytes, sizeof(bytes)});
  return *this;
}

ContentKey& ContentKey::add_file(const std::filesystem::path& path) {
  auto content = read_file_if_there(path);
  return content ? add("file").add(*content) : add("missing");
}

std::string ContentKey::hex() const {
  std::string digits;
  for (int shift = 124; shift >= 0; shift -= 4) digits += "0123456789abcdef"[static_cast<int>(hash_ >> shift) & 15];
  return digits;
}

void ContentKey::mix(std::string_view bytes) {
  constexpr auto kPrime = (static_cast<unsigned __int128>(1) << 88) | 0x13b;
  for (unsigned char byte : bytes) hash_ = (hash_ ^ byte) * kPrime;
}

}  // namespace accelerate
