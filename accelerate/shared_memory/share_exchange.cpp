#include "accelerate/shared_memory/share_exchange.h"

#include <algorithm>
#include <cstring>

namespace accelerate::shared_memory {

namespace {

using ByteArrays = std::vector<std::span<std::byte>>;

size_t total_bytes(const ByteArrays& arrays) {
  size_t sum = 0;
  for (const auto& array : arrays) sum += array.size();
  return sum;
}

/// Where each rank has its arrays, by rank: addresses of its process. When it returns, all ranks have called it.
std::vector<ByteArrays> exchange_places(Channel& channel, const ByteArrays& own) {
  std::copy(own.begin(), own.end(), reinterpret_cast<std::span<std::byte>*>(channel.stage()));
  channel.arrive_and_wait({.operation = Operation::Exchange, .count = total_bytes(own)});
  std::vector<ByteArrays> places;
  for (int rank = 0; rank < channel.size(); ++rank) {
    const auto* first = reinterpret_cast<const std::span<std::byte>*>(channel.staged(rank));
    places.emplace_back(first, first + own.size());
  }
  // Every rank compares all, so that all find the same mistake, before anything is written.
  for (int rank = 1; rank < channel.size(); ++rank) {
    for (size_t i = 0; i < own.size(); ++i) {
      if (places[rank][i].size() == places[0][i].size()) continue;
      fail("exchange of shares: array ", i, " has ", places[0][i].size(), " bytes on rank 0 and ",
           places[rank][i].size(), " on rank ", rank, "; they must have the same length on all ranks");
    }
  }
  return places;
}

/// To come to the exchange is to allow the others to write; to come to its end is to have written everything.
void write_to_peers(Channel& channel, const PeerMemory& peers, const ByteArrays& arrays, size_t num_rounds,
                    const std::function<Shares(size_t round)>& make, const RunRounds& run_rounds) {
  const auto places = exchange_places(channel, arrays);
  run_rounds(num_rounds, [&](size_t round) {
    const auto shares = make(round);
    for (const auto& [array, begin, length] : shares[channel.rank()]) {
      for (int rank = 0; rank < channel.size(); ++rank) {
        if (rank == channel.rank()) continue;
        peers.write(rank, places[rank][array].data() + begin, arrays[array].subspan(begin, length));
      }
    }
  });
  channel.arrive_and_wait({.operation = Operation::Exchange});
}

/// Goes through parts from the first to the last, some bytes at a time.
class Walk {
 public:
  Walk(const ByteArrays& arrays, const std::vector<Part>& parts) : arrays_(arrays), parts_(parts) {}

  /// Calls `visit(data, offset, length)` for what the next `bytes` are made of; `offset` counts from their first.
  template <class Visit>
  void next(size_t bytes, Visit visit) {
    for (size_t offset = 0; offset < bytes && part_ < parts_.size();) {
      const auto& part = parts_[part_];
      auto rest = arrays_[part.array].subspan(part.begin, part.length).subspan(done_);
      size_t length = std::min(rest.size(), bytes - offset);
      if (length > 0) visit(rest.data(), offset, length);
      offset += length;
      done_ += length;
      if (length == rest.size()) {
        ++part_;
        done_ = 0;
      }
    }
  }

 private:
  const ByteArrays& arrays_;
  const std::vector<Part>& parts_;
  size_t part_ = 0;
  size_t done_ = 0;  // of the part
};

size_t longest_share(const Shares& shares) {
  size_t longest = 0;
  for (const auto& parts : shares) {
    size_t bytes = 0;
    for (const auto& part : parts) bytes += part.length;
    longest = std::max(longest, bytes);
  }
  return longest;
}

void pass_through_stages(Channel& channel, const ByteArrays& arrays, const Shares& shares) {
  std::vector<Walk> walks;
  for (const auto& parts : shares) walks.emplace_back(arrays, parts);
  const size_t longest = longest_share(shares);
  for (size_t begin = 0; begin < longest; begin += kStageBytes) {
    const size_t bytes = std::min(kStageBytes, longest - begin);
    walks[channel.rank()].next(bytes, [&](std::byte* data, size_t offset, size_t length) {
      std::memcpy(channel.stage() + offset, data, length);
    });
    channel.arrive_and_wait({.operation = Operation::Exchange, .count = longest});
    for (int rank = 0; rank < channel.size(); ++rank) {
      if (rank == channel.rank()) continue;
      walks[rank].next(bytes, [&](std::byte* data, size_t offset, size_t length) {
        std::memcpy(data, channel.staged(rank) + offset, length);
      });
    }
  }
}

}  // namespace

void run_in_order(size_t num_rounds, const std::function<void(size_t round)>& run) {
  for (size_t round = 0; round < num_rounds; ++round) run(round);
}

void exchange_shares(Channel& channel, const PeerMemory& peers, const std::vector<std::span<std::byte>>& arrays,
                     size_t num_rounds, const std::function<Shares(size_t round)>& make, const RunRounds& run_rounds) {
  const bool places_fit = arrays.size() * sizeof(ByteArrays::value_type) <= kStageBytes;
  if (peers.reachable() && places_fit) return write_to_peers(channel, peers, arrays, num_rounds, make, run_rounds);
  channel.arrive_and_wait({.operation = Operation::Exchange, .count = total_bytes(arrays)});
  for (size_t round = 0; round < num_rounds; ++round) pass_through_stages(channel, arrays, make(round));
}

}  // namespace accelerate::shared_memory
