#include "accelerate/launch/content_key.h"

#include <fstream>
#include <iterator>

namespace accelerate::launch {

void ContentKey::add_byte(unsigned char byte) {
  constexpr auto kPrime = (static_cast<unsigned __int128>(1) << 88) | 0x13b;
  hash_ = (hash_ ^ byte) * kPrime;
}

ContentKey& ContentKey::add(std::string_view text) {
  for (char c : text) add_byte(static_cast<unsigned char>(c));
  add_byte(0);  // so that "ab", "c" is not "a", "bc"
  return *this;
}

ContentKey& ContentKey::add_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return add("missing");
  return add("file").add(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::string ContentKey::hex() const {
  std::string text;
  for (int shift = 124; shift >= 0; shift -= 4) text += "0123456789abcdef"[static_cast<int>(hash_ >> shift) & 15];
  return text;
}

}  // namespace accelerate::launch
