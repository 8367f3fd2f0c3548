#pragma once

// Collectives on bytes, built from rounds (channel.h). All ranks of the group call the same collectives in the same
// order with matching arguments; a mismatch is an Error on all of them. A group that has failed throws PeerError.
//
// Arrays larger than a staging buffer go through it in pieces. Staging is double-buffered: a rank fills one buffer
// while its peers still read the other, so that each piece needs one barrier only.

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "accelerate/shared_memory/channel.h"

namespace accelerate::shared_memory {

/// The elements that a rank contributes or receives.
struct Array {
  std::byte* data = nullptr;
  size_t count = 0;
  DataType type = DataType::Other;

  size_t bytes() const { return count * size_of(type); }
};

/// One array per rank, in rank order. All have the same length.
using Arrays = std::vector<std::byte*>;

/// Returns when all ranks have called it.
void barrier(Channel& channel);

/// Copies the array of `root` to all ranks.
void broadcast(Channel& channel, const Array& array, int root);

/// Reduces the arrays of all ranks, in place. If the arrays of all ranks lie in their heaps (at `heap_offset`), each
/// rank reduces its slice and writes the result into the arrays of all ranks directly; nothing is staged.
///
/// If `with_squares`, returns the sum of squares of the result, the same number on all ranks that get one. Returns
/// nothing if has_squares() is false (reduce.h). For arrays in heaps, also returns nothing unless all ranks ask for it.
std::optional<double> all_reduce(Channel& channel, const Array& array, Reduction reduction,
                                 std::optional<size_t> heap_offset = {}, bool with_squares = false);

/// The same for arrays in heaps, with a step between reduce-scatter and all-gather: each rank passes its reduced slice
/// to `between`, which may reduce it further with other groups. It is not called on ranks whose slice is empty, which
/// happens with short arrays.
void all_reduce(Channel& channel, const Array& array, Reduction reduction, size_t heap_offset,
                const std::function<void(const Array& slice)>& between);

/// Reduces the arrays of all ranks into that of `root`; the arrays of other ranks are not changed.
void reduce(Channel& channel, const Array& array, Reduction reduction, int root);

/// Reduces `inputs[r]` of all ranks into `output` of rank r.
void reduce_scatter(Channel& channel, const Arrays& inputs, const Array& output, Reduction reduction);

/// Copies the input of every rank to the outputs of all ranks.
void all_gather(Channel& channel, const Array& input, const Arrays& outputs);

/// Copies the input of every rank to the outputs of `root`; other ranks pass none.
void gather(Channel& channel, const Array& input, const Arrays& outputs, int root);

/// Copies `inputs[rank]` of `root` to the output of that rank; other ranks pass none.
void scatter(Channel& channel, const Arrays& inputs, const Array& output, int root);

/// Copies `inputs[to]` of every rank to `outputs[from]` of rank `to`. Lengths may differ from pair to pair.
void all_to_all(Channel& channel, const std::vector<Array>& inputs, const std::vector<Array>& outputs);

}  // namespace accelerate::shared_memory
