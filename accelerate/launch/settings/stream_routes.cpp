#include "accelerate/launch/settings/stream_routes.h"

#include <charconv>
#include <optional>
#include <sstream>

#include "accelerate/base/error.h"

namespace accelerate::launch {

namespace {

std::optional<int> parse_between(std::string_view text, int most) {
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

}  // namespace

StreamChoice::StreamChoice(const std::string& flag, const std::string& text) {
  if (auto number = parse_between(text, 3)) {
    for_all_ = *number;
    return;
  }
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, ',');) {
    auto colon = entry.find(':');
    auto rank = parse_between(std::string_view(entry).substr(0, colon), 1 << 20);
    auto number =
        colon == std::string::npos ? std::nullopt : parse_between(std::string_view(entry).substr(colon + 1), 3);
    if (!rank || !number) {
      fail(flag, " is '", text, "'; it can be 0 (none), 1 (output), 2 (errors) or 3 (both), or a list of ",
           "local rank and number such as 0:1,1:3");
    }
    for_one_[*rank] = *number;
  }
  if (for_one_.empty()) fail(flag, " is empty; it can be 0 (none), 1 (output), 2 (errors) or 3 (both)");
}

int StreamChoice::bits(int local_rank) const {
  auto found = for_one_.find(local_rank);
  return found == for_one_.end() ? for_all_ : found->second;
}

}  // namespace accelerate::launch
