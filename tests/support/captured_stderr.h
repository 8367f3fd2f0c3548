#pragma once

// What a piece of code writes to standard error, as text.

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

namespace accelerate::tests {

/// Runs `body` with standard error sent to a file, and returns what was written.
template <class Body>
std::string captured_stderr(Body&& body) {
  std::FILE* file = std::tmpfile();
  std::fflush(stderr);
  int saved = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  try {
    std::forward<Body>(body)();
  } catch (...) {
    dup2(saved, STDERR_FILENO);
    close(saved);
    std::fclose(file);
    throw;
  }
  std::fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::string text;
  char part[4096];
  for (ssize_t size; (size = pread(fileno(file), part, sizeof(part), text.size())) > 0;) text.append(part, size);
  std::fclose(file);
  return text;
}

}  // namespace accelerate::tests
