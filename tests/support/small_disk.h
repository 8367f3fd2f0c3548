#pragma once

// A disk of a few kilobytes, which nobody else sees.

#include <unistd.h>

#include <string>
#include <vector>

namespace accelerate::tests {

/// A command of the shell in a namespace of its own, where /mnt is an empty disk with so many kilobytes.
inline std::vector<std::string> on_small_disk(int kilobytes, const std::string& command) {
  auto mount = "mount -t tmpfs -o size=" + std::to_string(kilobytes) + "k none /mnt && ";
  std::vector<std::string> words = {"unshare", "-m", "sh", "-c", mount + command};
  if (geteuid() != 0) words.insert(words.begin() + 1, "-Ur");
  return words;
}

}  // namespace accelerate::tests
