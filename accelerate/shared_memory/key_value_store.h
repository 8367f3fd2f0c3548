#pragma once

// The key-value store through which ranks find each other before they are connected: c10d's, or files in tests.

#include <functional>
#include <string>

namespace accelerate::shared_memory {

/// The keys belong to one segments of the ranks.
struct KeyValueStore {
  std::function<void(const std::string& key, const std::string& text)> set;
  std::function<bool(const std::string& key)> has;
  std::function<std::string(const std::string& key)> get;  // waits for the key; throws after a time limit
};

}  // namespace accelerate::shared_memory
