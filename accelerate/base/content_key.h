#pragma once

// A name for content: the same bytes have the same name, other bytes another one.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace accelerate {

/// The 128-bit FNV-1a hash of everything added. The parts are kept apart: "ab", "c" and "a", "bc" have different names.
/// Keeps accidents apart, not attackers.
class ContentKey {
 public:
  ContentKey& add(std::string_view text);
  ContentKey& add(int64_t number);
  /// The content of a file; a file that cannot be read counts as one that is missing.
  ContentKey& add_file(const std::filesystem::path& path);

  /// 32 hexadecimal digits.
  std::string hex() const;

 private:
  void mix(std::string_view bytes);

  unsigned __int128 hash_ = (static_cast<unsigned __int128>(0x6c62272e07bb0142) << 64) | 0x62b821756295c58d;
};

}  // namespace accelerate
