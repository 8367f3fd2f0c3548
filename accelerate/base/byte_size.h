#pragma once

// Formats and parses numbers of bytes.

#include <cstdint>
#include <string>

namespace accelerate {

/// "413.18 MB", in units of 1024 and with at most two decimals.
std::string format_bytes(double bytes);

/// Bytes of "5GB" (units of 1000), "5GiB" (of 1024) or "5000". Throws Error naming the text.
uint64_t parse_bytes(const std::string& text);

}  // namespace accelerate
