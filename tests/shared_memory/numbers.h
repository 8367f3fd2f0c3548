#pragma once

// Numbers of every type that is reduced, and what their reductions are in double precision.

#include <algorithm>

#include "accelerate/shared_memory/call.h"
#include "accelerate/shared_memory/half.h"

namespace accelerate::tests {

/// The values that `T` stands for, as double and back.
template <class T>
double to_double(T value) {
  if constexpr (requires { shared_memory::widen(value); }) {
    return shared_memory::widen(value);
  } else {
    return static_cast<double>(value);
  }
}
template <class T>
T from_double(double value) {
  if constexpr (requires(T half) { shared_memory::widen(half); }) {
    T half{};
    shared_memory::narrow(static_cast<float>(value), half);
    return half;
  } else {
    return static_cast<T>(value);
  }
}

inline double combine(shared_memory::Reduction reduction, double a, double b) {
  switch (reduction) {
    case shared_memory::Reduction::Product:
      return a * b;
    case shared_memory::Reduction::Min:
      return std::min(a, b);
    case shared_memory::Reduction::Max:
      return std::max(a, b);
    default:
      return a + b;
  }
}

}  // namespace accelerate::tests
