#pragma once

// Standard output of a test and of the ranks it starts, sent elsewhere for the length of a scope.

#include <unistd.h>

#include <cstdio>
#include <iostream>

namespace accelerate::tests {

class [[nodiscard]] RedirectedStdout {
 public:
  explicit RedirectedStdout(int fd) {
    flush();  // what doctest has kept back so far belongs to where it was going
    saved_ = dup(STDOUT_FILENO);
    dup2(fd, STDOUT_FILENO);
  }
  RedirectedStdout(const RedirectedStdout&) = delete;
  RedirectedStdout& operator=(const RedirectedStdout&) = delete;
  ~RedirectedStdout() {
    flush();
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
  }

 private:
  static void flush() {
    std::cout.flush();
    std::fflush(stdout);
  }

  int saved_;
};

}  // namespace accelerate::tests
