#pragma once

// Some of the elements of a tensor.

#include <cstdint>

namespace accelerate::tensors {

/// Elements of a tensor, in the order of its memory.
struct ElementRange {
  int64_t begin = 0;
  int64_t length = 0;

  bool operator==(const ElementRange&) const = default;
};

}  // namespace accelerate::tensors
