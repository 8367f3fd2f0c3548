#pragma once

// Reports in one sentence that the compiler is not in C++20 mode, before the errors that follow from it.

#if __cplusplus < 202002L
#error "accelerate needs C++20: compile with -std=c++20; in CMake link accelerate::accelerate"
#include <accelerate_needs_cpp20>  // does not exist: a missing header ends the compilation
#endif
