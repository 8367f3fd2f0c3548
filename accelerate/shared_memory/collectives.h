#pragma once

// Collectives on bytes, made of rounds. Every rank of the channel's group calls the same ones in the same order, with
// arguments that fit together; if not, it is an Error on all of them. A group that is broken throws PeerError.
//
// What is larger than a stage goes through it piece by piece. Two stages take turns, so that a rank can fill one while
// others still read the other, and one round for each piece is enough.

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "accelerate/shared_memory/channel.h"

namespace accelerate::shared_memory {

/// Elements that a rank works on.
struct Array {
  std::byte* data = nullptr;
  size_t count = 0;
  DataType type = DataType::Other;

  size_t bytes() const { return count * bytes_of(type); }
};

/// The arrays of one rank for each of its peers, in rank order. All are as long.
using Arrays = std::vector<std::byte*>;

/// Returns when all ranks have called it.
void barrier(Channel& channel);

/// Overwrites `array` with that of `root`.
void broadcast(Channel& channel, const Array& array, int root);

/// Combines the arrays of all ranks, in place. When those of all ranks lie in their heaps (`heap_offset` says where),
/// every rank combines its share for all of them where they lie; nothing is copied.
///
/// `with_squares` asks for the sum of the squares of the results: the same number on all ranks that get one. There is
/// none unless all ranks ask for it, but for arrays that are copied, and none where has_squares() is false (reduce.h).
std::optional<double> all_reduce(Channel& channel, const Array& array, Reduction reduction,
                                 std::optional<size_t> heap_offset = {}, bool with_squares = false);

/// The same for arrays that all lie in their heaps, with something in between: a rank that has combined its share of
/// them hands it to `between`, which may combine it with what other groups have, and then to its peers. Ranks without a
/// share, as there are when the arrays are short, have nothing to hand on.
void all_reduce(Channel& channel, const Array& array, Reduction reduction, size_t heap_offset,
                const std::function<void(const Array& share)>& between);

/// Combines the arrays of all ranks for `root` only; those of the others stay.
void reduce(Channel& channel, const Array& array, Reduction reduction, int root);

/// Combines, for each rank, the arrays that all have for it: `inputs[rank]` of every rank go to that rank's `output`.
void reduce_scatter(Channel& channel, const Arrays& inputs, const Array& output, Reduction reduction);

/// Copies the input of every rank to the outputs of all.
void all_gather(Channel& channel, const Array& input, const Arrays& outputs);

/// Copies the input of every rank to the outputs of `root`; others need none.
void gather(Channel& channel, const Array& input, const Arrays& outputs, int root);

/// Copies `inputs[rank]` of `root` to the output of that rank; others need no inputs.
void scatter(Channel& channel, const Arrays& inputs, const Array& output, int root);

/// Copies `inputs[to]` of every rank to `outputs[from]` of rank `to`. Lengths may differ from pair to pair.
void all_to_all(Channel& channel, const std::vector<Array>& inputs, const std::vector<Array>& outputs);

}  // namespace accelerate::shared_memory
