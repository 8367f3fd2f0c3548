#include "accelerate/shared_memory/all_gather_slices.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace accelerate::shared_memory {

namespace {

using ByteArrays = std::vector<std::span<std::byte>>;

size_t total_bytes(const ByteArrays& arrays) {
  size_t sum = 0;
  for (const auto& array : arrays) sum += array.size();
  return sum;
}

/// All-gathers the addresses of the arrays, each valid in the process of its rank. Contains a barrier.
std::vector<ByteArrays> exchange_places(Channel& channel, const ByteArrays& own) {
  std::copy(own.begin(), own.end(), reinterpret_cast<std::span<std::byte>*>(channel.stage()));
  channel.arrive_and_wait({.operation = Operation::Exchange, .count = total_bytes(own)});
  std::vector<ByteArrays> places;
  for (int rank = 0; rank < channel.size(); ++rank) {
    const auto* first = reinterpret_cast<const std::span<std::byte>*>(channel.staged(rank));
    places.emplace_back(first, first + own.size());
  }
  // Every rank compares the lengths of all ranks, so that all throw the same Error before anything is written.
  for (int rank = 1; rank < channel.size(); ++rank) {
    for (size_t i = 0; i < own.size(); ++i) {
      if (places[rank][i].size() == places[0][i].size()) continue;
      fail("all-gather of slices: array ", i, " has ", places[0][i].size(), " bytes on rank 0 and ",
           places[rank][i].size(), " on rank ", rank, "; they must have the same length on all ranks");
    }
  }
  return places;
}

/// The bytes of `slice`.
std::span<std::byte> bytes_of_slice(const ByteArrays& arrays, const SlicePlan& plan, const Slice& slice) {
  const int64_t element_bytes = plan.tensors[slice.tensor].element_bytes;
  assert(slice.end() * element_bytes <= static_cast<int64_t>(arrays[slice.tensor].size()));
  return arrays[slice.tensor].subspan(slice.begin * element_bytes, slice.length * element_bytes);
}

/// After the first barrier, peers may write to this rank's arrays; after the last one, all writes are complete.
void write_to_peers(Channel& channel, const PeerMemory& peers, const ByteArrays& arrays, const SlicePlan& plan,
                    const std::function<void(size_t round)>& compute, const RunRounds& run_rounds) {
  const auto places = exchange_places(channel, arrays);
  run_rounds(plan.rounds.size(), [&](size_t round) {
    compute(round);
    for (const auto& slice : slices_of_rank(plan, round, channel.rank())) {
      const auto bytes = bytes_of_slice(arrays, plan, slice);
      const auto offset = bytes.data() - arrays[slice.tensor].data();
      for (int rank = 0; rank < channel.size(); ++rank) {
        if (rank != channel.rank()) peers.write(rank, places[rank][slice.tensor].data() + offset, bytes);
      }
    }
  });
  channel.arrive_and_wait({.operation = Operation::Exchange});
}

/// Reads the slices of one rank from the first to the last, some bytes at a time.
class SliceReader {
 public:
  explicit SliceReader(ByteArrays slices) : slices_(std::move(slices)) {}

  /// Calls `visit(data, offset, length)` for each piece of the next `bytes`; `offset` counts from their first.
  template <class Visit>
  void next(size_t bytes, Visit visit) {
    for (size_t offset = 0; offset < bytes && index_ < slices_.size();) {
      const auto rest = slices_[index_].subspan(done_);
      const size_t length = std::min(rest.size(), bytes - offset);
      if (length > 0) visit(rest.data(), offset, length);
      offset += length;
      done_ += length;
      if (length == rest.size()) {
        ++index_;
        done_ = 0;
      }
    }
  }

 private:
  ByteArrays slices_;
  size_t index_ = 0;
  size_t done_ = 0;  // of the slice
};

void pass_through_stages(Channel& channel, const ByteArrays& arrays, const SlicePlan& plan, size_t round) {
  std::vector<SliceReader> readers;
  size_t longest = 0;
  for (int rank = 0; rank < channel.size(); ++rank) {
    ByteArrays slices;
    for (const auto& slice : slices_of_rank(plan, round, rank)) slices.push_back(bytes_of_slice(arrays, plan, slice));
    longest = std::max(longest, total_bytes(slices));
    readers.emplace_back(std::move(slices));
  }
  for (size_t begin = 0; begin < longest; begin += kStageBytes) {
    const size_t bytes = std::min(kStageBytes, longest - begin);
    readers[channel.rank()].next(bytes, [&](std::byte* data, size_t offset, size_t length) {
      std::memcpy(channel.stage() + offset, data, length);
    });
    channel.arrive_and_wait({.operation = Operation::Exchange, .count = longest});
    for (int rank = 0; rank < channel.size(); ++rank) {
      if (rank == channel.rank()) continue;
      readers[rank].next(bytes, [&](std::byte* data, size_t offset, size_t length) {
        std::memcpy(data, channel.staged(rank) + offset, length);
      });
    }
  }
}

}  // namespace

void run_in_order(size_t num_rounds, const std::function<void(size_t round)>& run) {
  for (size_t round = 0; round < num_rounds; ++round) run(round);
}

void all_gather_slices(Channel& channel, const PeerMemory& peers, const ByteArrays& arrays, const SlicePlan& plan,
                       const std::function<void(size_t round)>& compute, const RunRounds& run_rounds) {
  assert(arrays.size() == plan.tensors.size());
  const bool places_fit = arrays.size() * sizeof(ByteArrays::value_type) <= kStageBytes;
  if (peers.reachable() && places_fit) return write_to_peers(channel, peers, arrays, plan, compute, run_rounds);
  channel.arrive_and_wait({.operation = Operation::Exchange, .count = total_bytes(arrays)});
  for (size_t round = 0; round < plan.rounds.size(); ++round) {
    compute(round);
    pass_through_stages(channel, arrays, plan, round);
  }
}

}  // namespace accelerate::shared_memory
