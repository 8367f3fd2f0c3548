#pragma once

// A slice of a flat tensor.

#include <cstdint>

namespace accelerate::tensors {

/// Elements of a tensor, in memory order.
struct ElementRange {
  int64_t begin = 0;
  int64_t length = 0;

  bool operator==(const ElementRange&) const = default;
};

}  // namespace accelerate::tensors
