#pragma once

// The ways to print in C++ and in C, seen as one.

#include <cstdio>
#include <iostream>

namespace accelerate::notebook {

/// Writes out what was printed until now, so that what others print appears behind it.
inline void flush_output() {
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
}

}  // namespace accelerate::notebook
