#pragma once

// Combines arrays of several ranks element by element.

#include <cstddef>
#include <span>
#include <vector>

#include "accelerate/shared_memory/call.h"

namespace accelerate::shared_memory {

/// Whether the type has the reduction: bits are combined of integers only, and integers have no average.
bool can_reduce(DataType type, Reduction reduction);

/// Throws Error where the type has not.
void require_reduction(DataType type, Reduction reduction);

/// A set of vector instructions. Every one of them gives the same bits.
enum class VectorLevel { Plain, Avx2, Avx512 };

/// Those that this machine has, the widest last.
const std::vector<VectorLevel>& vector_levels();

/// Combines `count` elements of all `sources`, in their order, and stores the result to all `targets`. float16 and
/// bfloat16 are added up in float32 and rounded once. Booleans have or for sum and and for product. A target may be one
/// of the sources; other overlaps are not allowed.
void reduce(DataType type, Reduction reduction, std::span<const std::byte* const> sources,
            std::span<std::byte* const> targets, size_t count, VectorLevel level = vector_levels().back());

/// Whether reduce_with_squares() is for it: sums of float32 and float64.
bool has_squares(DataType type, Reduction reduction);

/// Does what reduce() does and returns the sum of the squares of the results, which it adds up in double precision
/// while they are in the cache.
double reduce_with_squares(DataType type, Reduction reduction, std::span<const std::byte* const> sources,
                           std::span<std::byte* const> targets, size_t count, VectorLevel level = vector_levels().back());

}  // namespace accelerate::shared_memory
