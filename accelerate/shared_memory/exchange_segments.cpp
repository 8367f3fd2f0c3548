#include "accelerate/shared_memory/exchange_segments.h"

#include <algorithm>
#include <cassert>
#include <random>
#include <sstream>

#include "accelerate/base/error.h"
#include "accelerate/shared_memory/peer_watch.h"
#include "accelerate/shared_memory/unix_socket.h"

namespace accelerate::shared_memory {

namespace {

using Clock = std::chrono::steady_clock;

std::string key(const char* what, int rank) { return std::string(what) + "/" + std::to_string(rank); }

std::string random_name() {
  std::random_device random;
  std::ostringstream name;
  name << "accelerate-" << std::hex;
  for (int i = 0; i < 4; ++i) name << random() << "-";
  return name.str();
}

/// A magic number that a rank writes into its segment, so that peers can check that they map the right one.
uint64_t mark_of(int rank) { return 0x61636365'6c657200 + static_cast<uint64_t>(rank); }
uint64_t& mark_in(const Segment& segment) { return *reinterpret_cast<uint64_t*>(segment.data()); }

/// This rank could not allocate memory. It is the root cause, and is reported instead of the time-outs of its peers.
class NoMemory : public Error {
 public:
  using Error::Error;
};

std::shared_ptr<Segment> make_memory(size_t capacity, size_t committed) {
  try {
    auto memory = std::make_shared<Segment>(capacity);
    memory->commit(0, committed);
    return memory;
  } catch (const Error& error) {
    throw NoMemory(error.what());
  }
}

/// The exchange within one machine. Ranks are numbered by their index in `ranks`.
class Exchange {
 public:
  Exchange(const KeyValueStore& store, const std::vector<int>& ranks, int number, const ExchangeOptions& options)
      : store_(store),
        ranks_(ranks),
        size_(static_cast<int>(ranks.size())),
        number_(number),
        options_(options),
        deadline_(Clock::now() + options.timeout) {}

  /// The first rank gathers the descriptors of all ranks and broadcasts them.
  ExchangedSegments as_leader(const Descriptor& listener) {
    auto own = make_heap();
    auto control = make_memory(options_.control_bytes, options_.control_bytes);

    std::vector<Descriptor> sockets(size_);
    std::vector<ReceivedDescriptors> received(size_);
    for (int missing = size_ - 1; missing > 0;) {
      auto socket = accept_from(listener, std::chrono::milliseconds(20));
      if (!socket) {
        refuse_if_hopeless(sockets);
        continue;
      }
      auto descriptors_of_rank = receive_descriptors(*socket, left());
      int from = descriptors_of_rank.number;
      if (from <= 0 || from >= size_ || sockets[from] || descriptors_of_rank.descriptors.size() != 2) continue;
      sockets[from] = std::move(*socket);
      received[from] = std::move(descriptors_of_rank);
      --missing;
    }
    auto process = own_process_descriptor();
    for (int to = 1; to < size_; ++to) {
      send_descriptors(sockets[to], 0, {own->descriptor().get(), process.get(), control->descriptor().get()});
      for (int about = 1; about < size_; ++about) {
        auto& descriptors = received[about].descriptors;
        send_descriptors(sockets[to], about, {descriptors[0].get(), descriptors[1].get()});
      }
    }

    ExchangedSegments segments{.ranks = ranks_, .number = 0, .control = control, .heaps = {own}};
    segments.processes.emplace_back();
    for (int number = 1; number < size_; ++number) add(segments, std::move(received[number]), number);
    return segments;
  }

  ExchangedSegments as_follower(const std::string& address) {
    auto own = make_heap();
    auto socket = connect_to(address);
    send_descriptors(socket, number_, {own->descriptor().get(), own_process_descriptor().get()});

    ExchangedSegments segments{.ranks = ranks_, .number = number_};
    for (int number = 0; number < size_; ++number) {
      auto descriptors_of_rank = receive_descriptors(socket, left());
      if (number == 0) {
        if (descriptors_of_rank.descriptors.size() != 3) fail("rank ", ranks_[0], " did not send its memory");
        segments.control = std::make_shared<Segment>(descriptors_of_rank.descriptors[2]);
      }
      if (number == number_) {
        segments.heaps.push_back(own);
        segments.processes.emplace_back();
      } else {
        add(segments, std::move(descriptors_of_rank), number);
      }
    }
    return segments;
  }

 private:
  std::shared_ptr<Segment> make_heap() const {
    auto own = make_memory(options_.heap_bytes, options_.stage_bytes);
    mark_in(*own) = mark_of(number_);
    return own;
  }

  void add(ExchangedSegments& segments, ReceivedDescriptors descriptors_of_rank, int number) const {
    auto heap = std::make_shared<Segment>(descriptors_of_rank.descriptors[0]);
    if (mark_in(*heap) != mark_of(number)) {
      fail("the memory of rank ", ranks_[number], " does not contain what that rank wrote there");
    }
    segments.heaps.push_back(std::move(heap));
    segments.processes.push_back(std::move(descriptors_of_rank.descriptors[1]));
  }

  /// Throws if a missing rank has given up or the deadline has passed.
  void refuse_if_hopeless(const std::vector<Descriptor>& sockets) const {
    for (int number = 1; number < size_; ++number) {
      if (sockets[number]) continue;
      if (store_.has(key("outcome", ranks_[number]))) fail("rank ", ranks_[number], " has given up");
      if (Clock::now() > deadline_) fail("rank ", ranks_[number], " did not send its memory in time");
    }
  }

  std::chrono::milliseconds left() const {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
    return std::max(left, std::chrono::milliseconds(0));
  }

  const KeyValueStore& store_;
  const std::vector<int>& ranks_;
  int size_;
  int number_;
  const ExchangeOptions& options_;
  Clock::time_point deadline_;
};

/// The first rank of a machine listens at a random address and publishes it in the store.
ExchangedSegments exchange(const KeyValueStore& store, const std::vector<int>& ranks, int number,
                           const ExchangeOptions& options) {
  auto address_key = key("address", ranks[0]);
  if (number > 0) return Exchange(store, ranks, number, options).as_follower(store.get(address_key));
  auto address = random_name();
  Descriptor listener;
  try {
    listener = listen_at(address);
  } catch (const Error&) {
    store.set(address_key, address);  // so that the others do not wait for it
    throw;
  }
  store.set(address_key, address);
  return Exchange(store, ranks, number, options).as_leader(listener);
}

/// The error to report, or an empty string. Root causes come first, then timeouts of ranks that waited for them.
std::string find_reason(const KeyValueStore& store, int size) {
  std::string cause, consequence;
  for (int rank = 0; rank < size; ++rank) {
    auto outcome = store.get(key("outcome", rank));
    if (outcome.empty()) continue;
    auto& reason = store.has(key("cause", rank)) ? cause : consequence;
    reason = "rank " + std::to_string(rank) + ": " + outcome;
  }
  return cause.empty() ? consequence : cause;
}

/// Rank 0 reads the outcomes of all ranks and publishes one verdict.
std::string agree(const KeyValueStore& store, int rank, int size, const std::string& mine) {
  store.set(key("outcome", rank), mine);
  if (rank == 0) store.set("verdict", find_reason(store, size));
  return store.get("verdict");
}

}  // namespace

ExchangedSegments exchange_segments(const KeyValueStore& store, const std::vector<std::vector<int>>& machines, int rank,
                                    const ExchangeOptions& options) {
  int size = 0;
  const std::vector<int>* own = nullptr;
  for (const auto& ranks : machines) {
    size += static_cast<int>(ranks.size());
    if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) own = &ranks;
  }
  assert(own != nullptr);
  const auto number = static_cast<int>(std::find(own->begin(), own->end(), rank) - own->begin());
  ExchangedSegments segments;
  std::string problem;
  try {
    segments = exchange(store, *own, number, options);
  } catch (const NoMemory& error) {
    problem = error.what();
    store.set(key("cause", rank), problem);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  auto verdict = agree(store, rank, size, problem);
  if (!verdict.empty()) fail(verdict);
  return segments;
}

}  // namespace accelerate::shared_memory
