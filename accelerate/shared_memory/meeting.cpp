#include "accelerate/shared_memory/meeting.h"

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

/// What a rank shows in its memory, so that the others see that they map this one.
uint64_t mark_of(int rank) { return 0x61636365'6c657200 + static_cast<uint64_t>(rank); }
uint64_t& mark_in(const Segment& segment) { return *reinterpret_cast<uint64_t*>(segment.data()); }

/// A rank has no memory itself. It says more than those who then miss the rank.
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

/// The exchange inside one machine. Its ranks are counted by their place among `ranks`.
class Exchange {
 public:
  Exchange(const NoticeBoard& board, const std::vector<int>& ranks, int number, const MeetingOptions& options)
      : board_(board),
        ranks_(ranks),
        size_(static_cast<int>(ranks.size())),
        number_(number),
        options_(options),
        deadline_(Clock::now() + options.timeout) {}

  /// The first rank collects everybody's descriptors and hands them to everybody.
  Meeting as_host(const Descriptor& listener) {
    auto own = make_heap();
    auto control = make_memory(options_.control_bytes, options_.control_bytes);

    std::vector<Descriptor> sockets(size_);
    std::vector<Parcel> parcels(size_);
    for (int missing = size_ - 1; missing > 0;) {
      auto socket = accept_from(listener, std::chrono::milliseconds(20));
      if (!socket) {
        refuse_if_hopeless(sockets);
        continue;
      }
      auto parcel = receive_descriptors(*socket, left());
      int from = parcel.number;
      if (from <= 0 || from >= size_ || sockets[from] || parcel.descriptors.size() != 2) continue;
      sockets[from] = std::move(*socket);
      parcels[from] = std::move(parcel);
      --missing;
    }
    auto process = own_process_descriptor();
    for (int to = 1; to < size_; ++to) {
      send_descriptors(sockets[to], 0, {own->descriptor().get(), process.get(), control->descriptor().get()});
      for (int about = 1; about < size_; ++about) {
        auto& descriptors = parcels[about].descriptors;
        send_descriptors(sockets[to], about, {descriptors[0].get(), descriptors[1].get()});
      }
    }

    Meeting meeting{.ranks = ranks_, .number = 0, .control = control, .heaps = {own}};
    meeting.processes.emplace_back();
    for (int number = 1; number < size_; ++number) add(meeting, std::move(parcels[number]), number);
    return meeting;
  }

  Meeting as_guest(const std::string& address) {
    auto own = make_heap();
    auto socket = connect_to(address);
    send_descriptors(socket, number_, {own->descriptor().get(), own_process_descriptor().get()});

    Meeting meeting{.ranks = ranks_, .number = number_};
    for (int number = 0; number < size_; ++number) {
      auto parcel = receive_descriptors(socket, left());
      if (number == 0) {
        if (parcel.descriptors.size() != 3) fail("rank ", ranks_[0], " did not send its memory");
        meeting.control = std::make_shared<Segment>(parcel.descriptors[2]);
      }
      if (number == number_) {
        meeting.heaps.push_back(own);
        meeting.processes.emplace_back();
      } else {
        add(meeting, std::move(parcel), number);
      }
    }
    return meeting;
  }

 private:
  std::shared_ptr<Segment> make_heap() const {
    auto own = make_memory(options_.heap_bytes, options_.stage_bytes);
    mark_in(*own) = mark_of(number_);
    return own;
  }

  void add(Meeting& meeting, Parcel parcel, int number) const {
    auto heap = std::make_shared<Segment>(parcel.descriptors[0]);
    if (mark_in(*heap) != mark_of(number)) {
      fail("the memory of rank ", ranks_[number], " does not hold what that rank wrote there");
    }
    meeting.heaps.push_back(std::move(heap));
    meeting.processes.push_back(std::move(parcel.descriptors[1]));
  }

  /// Throws when a rank that has not come will not come.
  void refuse_if_hopeless(const std::vector<Descriptor>& sockets) const {
    for (int number = 1; number < size_; ++number) {
      if (sockets[number]) continue;
      if (board_.has(key("outcome", ranks_[number]))) fail("rank ", ranks_[number], " has given up");
      if (Clock::now() > deadline_) fail("rank ", ranks_[number], " did not send its memory in time");
    }
  }

  std::chrono::milliseconds left() const {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
    return std::max(left, std::chrono::milliseconds(0));
  }

  const NoticeBoard& board_;
  const std::vector<int>& ranks_;
  int size_;
  int number_;
  const MeetingOptions& options_;
  Clock::time_point deadline_;
};

/// The first rank of a machine says where to meet, when it listens there.
Meeting exchange(const NoticeBoard& board, const std::vector<int>& ranks, int number, const MeetingOptions& options) {
  auto address_key = key("address", ranks[0]);
  if (number > 0) return Exchange(board, ranks, number, options).as_guest(board.read(address_key));
  auto address = random_name();
  Descriptor listener;
  try {
    listener = listen_at(address);
  } catch (const Error&) {
    board.post(address_key, address);  // the others are not to wait for it
    throw;
  }
  board.post(address_key, address);
  return Exchange(board, ranks, number, options).as_host(listener);
}

/// What went wrong, or nothing. Those who were first say why; that a host has waited for them in vain says less.
std::string find_reason(const NoticeBoard& board, int size) {
  std::string cause, consequence;
  for (int rank = 0; rank < size; ++rank) {
    auto outcome = board.read(key("outcome", rank));
    if (outcome.empty()) continue;
    auto& reason = board.has(key("cause", rank)) ? cause : consequence;
    reason = "rank " + std::to_string(rank) + ": " + outcome;
  }
  return cause.empty() ? consequence : cause;
}

/// Rank 0 hears how it went for everybody; all learn the same.
std::string agree(const NoticeBoard& board, int rank, int size, const std::string& mine) {
  board.post(key("outcome", rank), mine);
  if (rank == 0) board.post("verdict", find_reason(board, size));
  return board.read("verdict");
}

}  // namespace

Meeting meet(const NoticeBoard& board, const Machines& machines, int rank, const MeetingOptions& options) {
  auto place = place_of(machines, rank);
  int size = 0;
  for (const auto& ranks : machines) size += static_cast<int>(ranks.size());
  Meeting meeting;
  std::string problem;
  try {
    meeting = exchange(board, machines[place.machine], place.number, options);
  } catch (const NoMemory& error) {
    problem = error.what();
    board.post(key("cause", rank), problem);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  auto verdict = agree(board, rank, size, problem);
  if (!verdict.empty()) fail(verdict);
  return meeting;
}

}  // namespace accelerate::shared_memory
