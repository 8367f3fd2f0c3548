#pragma once

// A hash of content, used as its name. FNV-1a takes a few lines, and base has no dependencies.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace accelerate {

/// The 128-bit FNV-1a hash of everything added. Boundaries count: "ab", "c" and "a", "bc" have different keys. Not
/// cryptographic.
class ContentKey {
 public:
  ContentKey& add(std::string_view text);
  ContentKey& add(int64_t number);
  /// Adds the content of a file. An unreadable file counts as missing.
  ContentKey& add_file(const std::filesystem::path& path);

  /// 32 hexadecimal digits.
  std::string hex() const;

 private:
  void mix(std::string_view bytes);

  unsigned __int128 hash_ = (static_cast<unsigned __int128>(0x6c62272e07bb0142) << 64) | 0x62b821756295c58d;
};

}  // namespace accelerate
