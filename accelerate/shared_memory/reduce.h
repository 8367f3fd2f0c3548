#pragma once

// Element-wise reduction of the arrays of several ranks, with vector instructions.

#include <cstddef>
#include <span>
#include <vector>

#include "accelerate/shared_memory/call.h"

namespace accelerate::shared_memory {

/// Whether the type supports the reduction: bitwise ones need integers, and integers have no average.
bool can_reduce(DataType type, Reduction reduction);

/// Throws Error if it does not.
void require_reduction(DataType type, Reduction reduction);

/// A vector instruction set. All of them give the same bits.
enum class VectorLevel { Plain, Avx2, Avx512 };

/// Those that this machine supports, the widest last.
const std::vector<VectorLevel>& vector_levels();

/// Reduces `count` elements of all `sources`, in their order, and stores the result to all `targets`. float16 and
/// bfloat16 are accumulated in float32 and rounded once. For booleans, sum is "or" and product is "and". A target may
/// be one of the sources; other overlaps are not allowed.
void reduce(DataType type, Reduction reduction, std::span<const std::byte* const> sources,
            std::span<std::byte* const> targets, size_t count, VectorLevel level = vector_levels().back());

/// Whether reduce_with_squares() supports it: sums of float32 and float64.
bool has_squares(DataType type, Reduction reduction);

/// The same as reduce(), and returns the sum of squares of the result, accumulated in double precision while the result
/// is in the cache.
double reduce_with_squares(DataType type, Reduction reduction, std::span<const std::byte* const> sources,
                           std::span<std::byte* const> targets, size_t count,
                           VectorLevel level = vector_levels().back());

}  // namespace accelerate::shared_memory
