#pragma once

// A short name for a large content: what has the same name is the same.

#include <cstdint>
#include <string>
#include <string_view>

namespace transformers::inputs {

/// Collects parts and gives them a name of 32 hexadecimal digits (FNV-1a of 128 bits). The parts are kept apart: "ab",
/// "c" and "a", "bc" have different names. No protection against somebody who makes collisions on purpose.
class ContentKey {
 public:
  void add(std::string_view part);
  void add(int64_t number);

  std::string name() const;

 private:
  void mix(std::string_view bytes);

  // The offset basis of the hash, in two halves.
  unsigned __int128 hash_ = static_cast<unsigned __int128>(0x6c62272e07bb0142) << 64 | 0x62b821756295c58d;
};

}  // namespace transformers::inputs
