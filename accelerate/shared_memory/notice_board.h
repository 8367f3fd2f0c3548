#pragma once

// Where ranks leave each other notes before they are connected.

#include <functional>
#include <string>

namespace accelerate::shared_memory {

/// The keys belong to one meeting of the ranks.
struct NoticeBoard {
  std::function<void(const std::string& key, const std::string& text)> post;
  std::function<bool(const std::string& key)> has;
  std::function<std::string(const std::string& key)> read;  // waits for it; throws when it does not come in time
};

}  // namespace accelerate::shared_memory
