#include <string_view>

#include "accelerate/tracking/http.h"

namespace accelerate::tracking {

std::string url_escape(const std::string& text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string escaped;
  for (unsigned char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                 c == '_' || c == '~';
    if (plain) {
      escaped += static_cast<char>(c);
    } else {
      escaped += {'%', kHex[c >> 4], kHex[c & 15]};
    }
  }
  return escaped;
}

}  // namespace accelerate::tracking
