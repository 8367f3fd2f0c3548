#include "accelerate/shared_memory/collectives.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>

#include "accelerate/shared_memory/reduce.h"

namespace accelerate::shared_memory {

namespace {

constexpr size_t kCacheLine = 64;
constexpr uint64_t kPrivate = ~uint64_t{0};  // the payload of a rank that stages its array
constexpr uint64_t kUnknown = ~uint64_t{0};  // the payload of a rank without a sum of squares; a NaN as a double

// Below this size, copying to and from the staging buffers takes less time than the second round of an in-place
// reduction.
constexpr size_t kLeastInPlace = 32 * 1024;

/// A part of all arrays of a collective, in bytes.
struct Piece {
  size_t begin;
  size_t length;
};

/// Sends `bytes` through the staging buffers, one piece per round: `fill` writes this rank's staging buffer, and `take`
/// reads those of all ranks after the barrier. Runs one round if `bytes` is 0, so that the calls are compared.
template <class Fill, class Take>
void in_pieces(Channel& channel, const Call& call, size_t bytes, size_t piece_bytes, Fill fill, Take take) {
  assert(piece_bytes > 0 && piece_bytes <= kStageBytes);
  for (size_t begin = 0; begin == 0 || begin < bytes; begin += piece_bytes) {
    Piece piece{begin, std::min(piece_bytes, bytes - begin)};
    fill(piece);
    channel.arrive_and_wait(call);
    take(piece);
  }
}

/// The largest piece, in whole cache lines, that fits into a staging buffer once per rank.
size_t piece_for_each(const Channel& channel) { return kStageBytes / channel.size() / kCacheLine * kCacheLine; }

/// memcpy(3) that accepts null pointers if `bytes` is 0.
void copy_bytes(std::byte* to, const std::byte* from, size_t bytes) {
  assert(bytes == 0 || (to != nullptr && from != nullptr));
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void check_root(const Channel& channel, int root) {
  if (root < 0 || root >= channel.size()) fail("there is no rank ", root, " in a group of ", channel.size());
}

/// Reduces `sources` into each of `targets`. Adds the squares of the results to `squares` if that has a value.
void reduce_to(std::span<std::byte* const> targets, std::span<const std::byte* const> sources, size_t bytes,
               DataType type, Reduction reduction, std::optional<double>& squares) {
  assert(bytes % size_of(type) == 0);
  size_t count = bytes / size_of(type);
  if (squares) {
    *squares += reduce_with_squares(type, reduction, sources, targets, count);
  } else {
    reduce(type, reduction, sources, targets, count);
  }
}

/// Reduces the staging buffers of all ranks, from `offset` on, into `target`.
void reduce_staged(const Channel& channel, size_t offset, std::byte* target, size_t bytes, DataType type,
                   Reduction reduction, std::optional<double>& squares) {
  std::vector<const std::byte*> sources;
  for (int rank = 0; rank < channel.size(); ++rank) sources.push_back(channel.staged(rank) + offset);
  reduce_to({&target, 1}, sources, bytes, type, reduction, squares);
}

void reduce_staged(const Channel& channel, size_t offset, std::byte* target, size_t bytes, DataType type,
                   Reduction reduction) {
  std::optional<double> none;
  reduce_staged(channel, offset, target, bytes, type, reduction, none);
}

/// The bytes of an array that `rank` reduces, in whole cache lines: no two ranks write to the same line.
Piece cache_lines_of(size_t bytes, int rank, int size) {
  size_t each = (bytes / size + kCacheLine) / kCacheLine * kCacheLine;
  assert(each * size >= bytes);  // the pieces cover the array
  size_t begin = std::min(bytes, each * rank);
  return {begin, std::min(each, bytes - begin)};
}

/// The addresses of the arrays of all ranks, plus `begin`. The payloads of the last round are their heap offsets.
std::vector<std::byte*> noted_arrays(const Channel& channel, size_t begin) {
  std::vector<std::byte*> arrays;
  for (int rank = 0; rank < channel.size(); ++rank) {
    assert(channel.payload_of(rank) != kPrivate);
    arrays.push_back(channel.heap(rank) + channel.payload_of(rank) + begin);
  }
  return arrays;
}

/// The sum of the payloads of the last round, as doubles. Adds in rank order, so that all ranks get the same number.
/// Nothing if a rank passed kUnknown.
std::optional<double> sum_of_notes(const Channel& channel) {
  double sum = 0;
  for (int rank = 0; rank < channel.size(); ++rank) {
    if (channel.payload_of(rank) == kUnknown) return std::nullopt;
    sum += std::bit_cast<double>(channel.payload_of(rank));
  }
  return sum;
}

/// Every rank reduces its piece and writes the result into the arrays of all ranks. The payload of the final barrier is
/// the rank's sum of squares.
std::optional<double> reduce_in_place(Channel& channel, const Call& call, const Array& array, Reduction reduction,
                                      std::optional<double> squares) {
  auto piece = cache_lines_of(array.bytes(), channel.rank(), channel.size());
  auto arrays = noted_arrays(channel, piece.begin);
  std::vector<const std::byte*> sources(arrays.begin(), arrays.end());
  reduce_to(arrays, sources, piece.length, array.type, reduction, squares);
  channel.arrive_and_wait(call, squares ? std::bit_cast<uint64_t>(*squares) : kUnknown);
  return sum_of_notes(channel);
}

/// Whether all, none or some of the ranks passed a heap offset in the last round.
enum class InHeap { All, None, Some };
InHeap arrays_in_heap(const Channel& channel) {
  int num_private = 0;
  for (int rank = 0; rank < channel.size(); ++rank) num_private += channel.payload_of(rank) == kPrivate;
  return num_private == 0 ? InHeap::All : num_private == channel.size() ? InHeap::None : InHeap::Some;
}

}  // namespace

void barrier(Channel& channel) { channel.arrive_and_wait({.operation = Operation::Barrier}); }

void broadcast(Channel& channel, const Array& array, int root) {
  check_root(channel, root);
  Call call{.operation = Operation::Broadcast, .type = array.type, .root = root, .count = array.count};
  bool giving = channel.rank() == root;
  in_pieces(
      channel, call, array.bytes(), kStageBytes,
      [&](Piece piece) {
        if (giving) copy_bytes(channel.stage(), array.data + piece.begin, piece.length);
      },
      [&](Piece piece) {
        if (!giving) copy_bytes(array.data + piece.begin, channel.staged(root), piece.length);
      });
}

std::optional<double> all_reduce(Channel& channel, const Array& array, Reduction reduction,
                                 std::optional<size_t> heap_offset, bool with_squares) {
  require_reduction(array.type, reduction);
  Call call{.operation = Operation::AllReduce, .type = array.type, .reduction = reduction, .count = array.count};
  std::optional<double> squares;
  if (with_squares && has_squares(array.type, reduction)) squares = 0;
  size_t begin = 0;
  if (heap_offset && array.bytes() >= kLeastInPlace) {
    channel.arrive_and_wait(call, *heap_offset);
  } else {
    // If no rank passes a heap offset, this round also reduces the first piece.
    copy_bytes(channel.stage(), array.data, std::min(kStageBytes, array.bytes()));
    channel.arrive_and_wait(call, kPrivate);
  }
  auto where = arrays_in_heap(channel);
  if (where == InHeap::All) return reduce_in_place(channel, call, array, reduction, squares);
  // From here on every rank reduces whole arrays, so each computes the same sum of squares without a further exchange.
  if (where == InHeap::None) {
    reduce_staged(channel, 0, array.data, std::min(kStageBytes, array.bytes()), array.type, reduction, squares);
    begin = kStageBytes;
    if (begin >= array.bytes()) return squares;
  }
  in_pieces(
      channel, call, array.bytes() - begin, kStageBytes,
      [&](Piece piece) { copy_bytes(channel.stage(), array.data + begin + piece.begin, piece.length); },
      [&](Piece piece) {
        reduce_staged(channel, 0, array.data + begin + piece.begin, piece.length, array.type, reduction, squares);
      });
  return squares;
}

void all_reduce(Channel& channel, const Array& array, Reduction reduction, size_t heap_offset,
                const std::function<void(const Array& piece)>& between) {
  require_reduction(array.type, reduction);
  Call call{.operation = Operation::AllReduce, .type = array.type, .reduction = reduction, .count = array.count};
  channel.arrive_and_wait(call, heap_offset);
  if (auto piece = cache_lines_of(array.bytes(), channel.rank(), channel.size()); piece.length > 0) {
    auto arrays = noted_arrays(channel, piece.begin);
    std::vector<const std::byte*> sources(arrays.begin(), arrays.end());
    auto* own = array.data + piece.begin;
    size_t count = piece.length / size_of(array.type);
    reduce(array.type, reduction, sources, {&own, 1}, count);
    between({own, count, array.type});
    std::erase(arrays, own);
    for (auto* other : arrays) copy_bytes(other, own, piece.length);
  }
  channel.arrive_and_wait(call);
}

void reduce(Channel& channel, const Array& array, Reduction reduction, int root) {
  check_root(channel, root);
  require_reduction(array.type, reduction);
  Call call{
      .operation = Operation::Reduce, .type = array.type, .reduction = reduction, .root = root, .count = array.count};
  in_pieces(
      channel, call, array.bytes(), kStageBytes,
      [&](Piece piece) { copy_bytes(channel.stage(), array.data + piece.begin, piece.length); },
      [&](Piece piece) {
        if (channel.rank() != root) return;
        reduce_staged(channel, 0, array.data + piece.begin, piece.length, array.type, reduction);
      });
}

void reduce_scatter(Channel& channel, const Arrays& inputs, const Array& output, Reduction reduction) {
  require_reduction(output.type, reduction);
  Call call{.operation = Operation::ReduceScatter, .type = output.type, .reduction = reduction, .count = output.count};
  size_t most = piece_for_each(channel);
  in_pieces(
      channel, call, output.bytes(), most,
      [&](Piece piece) {
        for (int rank = 0; rank < channel.size(); ++rank) {
          copy_bytes(channel.stage() + rank * most, inputs[rank] + piece.begin, piece.length);
        }
      },
      [&](Piece piece) {
        reduce_staged(channel, channel.rank() * most, output.data + piece.begin, piece.length, output.type, reduction);
      });
}

void all_gather(Channel& channel, const Array& input, const Arrays& outputs) {
  Call call{.operation = Operation::AllGather, .type = input.type, .count = input.count};
  in_pieces(
      channel, call, input.bytes(), kStageBytes,
      [&](Piece piece) { copy_bytes(channel.stage(), input.data + piece.begin, piece.length); },
      [&](Piece piece) {
        for (int rank = 0; rank < channel.size(); ++rank) {
          copy_bytes(outputs[rank] + piece.begin, channel.staged(rank), piece.length);
        }
      });
}

void gather(Channel& channel, const Array& input, const Arrays& outputs, int root) {
  check_root(channel, root);
  Call call{.operation = Operation::Gather, .type = input.type, .root = root, .count = input.count};
  in_pieces(
      channel, call, input.bytes(), kStageBytes,
      [&](Piece piece) { copy_bytes(channel.stage(), input.data + piece.begin, piece.length); },
      [&](Piece piece) {
        if (channel.rank() != root) return;
        for (int rank = 0; rank < channel.size(); ++rank) {
          copy_bytes(outputs[rank] + piece.begin, channel.staged(rank), piece.length);
        }
      });
}

void scatter(Channel& channel, const Arrays& inputs, const Array& output, int root) {
  check_root(channel, root);
  Call call{.operation = Operation::Scatter, .type = output.type, .root = root, .count = output.count};
  size_t most = piece_for_each(channel);
  in_pieces(
      channel, call, output.bytes(), most,
      [&](Piece piece) {
        if (channel.rank() != root) return;
        for (int rank = 0; rank < channel.size(); ++rank) {
          copy_bytes(channel.stage() + rank * most, inputs[rank] + piece.begin, piece.length);
        }
      },
      [&](Piece piece) {
        copy_bytes(output.data + piece.begin, channel.staged(root) + channel.rank() * most, piece.length);
      });
}

void all_to_all(Channel& channel, const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
  Call call{.operation = Operation::AllToAll, .type = inputs[0].type};
  int size = channel.size();
  // First all-gathers the lengths, so that all ranks find the same mistake.
  auto* lengths = reinterpret_cast<uint64_t*>(channel.stage());
  for (int rank = 0; rank < size; ++rank) {
    lengths[rank] = inputs[rank].bytes();
    lengths[size + rank] = outputs[rank].bytes();
  }
  channel.arrive_and_wait(call);
  auto length_of = [&](int rank, int index) { return reinterpret_cast<const uint64_t*>(channel.staged(rank))[index]; };
  uint64_t longest = 0;
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      longest = std::max(longest, length_of(from, to));
      if (length_of(from, to) == length_of(to, size + from)) continue;
      fail("alltoall: rank ", from, " sends ", length_of(from, to), " bytes to rank ", to, ", which takes ",
           length_of(to, size + from), "; the splits of both must match");
    }
  }

  size_t most = piece_for_each(channel);
  auto part = [](const Array& array, Piece piece) {
    return piece.begin >= array.bytes() ? 0 : std::min(piece.length, array.bytes() - piece.begin);
  };
  in_pieces(
      channel, call, longest, most,
      [&](Piece piece) {
        for (int rank = 0; rank < size; ++rank) {
          copy_bytes(channel.stage() + rank * most, inputs[rank].data + piece.begin, part(inputs[rank], piece));
        }
      },
      [&](Piece piece) {
        for (int rank = 0; rank < size; ++rank) {
          copy_bytes(outputs[rank].data + piece.begin, channel.staged(rank) + channel.rank() * most,
                     part(outputs[rank], piece));
        }
      });
}

}  // namespace accelerate::shared_memory
