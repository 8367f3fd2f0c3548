#include "accelerate/base/byte_size.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <regex>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"

namespace accelerate {

std::string format_bytes(double bytes) {
  if (bytes < 1024 && bytes == std::floor(bytes)) return std::to_string(static_cast<int64_t>(bytes)) + " bytes";
  const char* unit = "bytes";
  for (const char* next : {"KB", "MB", "GB", "TB", "PB"}) {
    if (bytes < 1024) break;
    bytes /= 1024;
    unit = next;
  }
  char number[32];
  std::snprintf(number, sizeof(number), "%.2f", bytes);
  std::string text = number;
  if (text.ends_with("0")) text.pop_back();
  return text + " " + unit;
}

uint64_t parse_bytes(const std::string& text) {
  static const std::map<std::string, double> kUnits = {
      {"", 1},      {"B", 1},      {"KB", 1e3},      {"MB", 1e6},           {"GB", 1e9},
      {"TB", 1e12}, {"KIB", 1024}, {"MIB", 1048576}, {"GIB", 1073741824.0}, {"TIB", 1099511627776.0}};
  static const std::regex kPattern(R"(([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*))");
  std::smatch match;
  if (std::regex_match(text, match, kPattern)) {
    auto found = kUnits.find(upper_case(match[2].str()));
    double number = 0;  // stays 0 if the number is out of range
    std::from_chars(text.data(), text.data() + match.length(1), number);
    double bytes = found == kUnits.end() ? 0 : number * found->second;
    if (bytes >= 1 && bytes < 1e18) return static_cast<uint64_t>(bytes);
  }
  fail("'", text, "' is not a size; write 500MB, 5GB or 5GiB");
}

}  // namespace accelerate
