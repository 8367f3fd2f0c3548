#pragma once

// Flushes the output streams of C++ and C.

#include <cstdio>
#include <iostream>

namespace accelerate::notebook {

/// Flushes all output, so that output of other processes appears after it.
inline void flush_output() {
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
}

}  // namespace accelerate::notebook
