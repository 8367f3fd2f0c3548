#include "accelerate/shared_memory/meeting.h"

#include <fstream>
#include <random>

#include "accelerate/base/error.h"
#include "accelerate/shared_memory/peer_watch.h"
#include "accelerate/shared_memory/unix_socket.h"

namespace accelerate::shared_memory {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kApart = "apart";  // in place of an address, when the ranks are on several machines

std::string key(const char* what, int rank) { return std::string(what) + "/" + std::to_string(rank); }

/// Changes with every start of a machine's kernel, and with every machine.
std::string machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  if (!std::getline(file, id)) fail("the machine's boot_id cannot be read");
  return id;
}

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

class Exchange {
 public:
  Exchange(const NoticeBoard& board, int rank, int size, const MeetingOptions& options)
      : board_(board), rank_(rank), size_(size), options_(options), deadline_(Clock::now() + options.timeout) {}

  /// Rank 0 collects everybody's descriptors and hands them to everybody.
  Meeting as_host(const Descriptor& listener) {
    auto own = std::make_shared<Segment>(options_.heap_bytes);
    prepare(*own);
    auto control = std::make_shared<Segment>(options_.control_bytes);
    control->commit(0, options_.control_bytes);

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

    Meeting meeting{.control = control, .heaps = {own}, .processes = {}};
    meeting.processes.emplace_back();
    for (int rank = 1; rank < size_; ++rank) add(meeting, std::move(parcels[rank]), rank);
    return meeting;
  }

  Meeting as_guest(const std::string& address) {
    auto own = std::make_shared<Segment>(options_.heap_bytes);
    prepare(*own);
    auto socket = connect_to(address);
    send_descriptors(socket, rank_, {own->descriptor().get(), own_process_descriptor().get()});

    Meeting meeting{};
    for (int rank = 0; rank < size_; ++rank) {
      auto parcel = receive_descriptors(socket, left());
      if (rank == 0) {
        if (parcel.descriptors.size() != 3) fail("rank 0 did not send its memory");
        meeting.control = std::make_shared<Segment>(parcel.descriptors[2]);
      }
      if (rank == rank_) {
        meeting.heaps.push_back(own);
        meeting.processes.emplace_back();
      } else {
        add(meeting, std::move(parcel), rank);
      }
    }
    return meeting;
  }

 private:
  void prepare(Segment& own) const {
    own.commit(0, options_.stage_bytes);
    mark_in(own) = mark_of(rank_);
  }

  static void add(Meeting& meeting, Parcel parcel, int rank) {
    auto heap = std::make_shared<Segment>(parcel.descriptors[0]);
    if (mark_in(*heap) != mark_of(rank)) fail("the memory of rank ", rank, " does not hold what that rank wrote there");
    meeting.heaps.push_back(std::move(heap));
    meeting.processes.push_back(std::move(parcel.descriptors[1]));
  }

  /// Throws when a rank that has not come will not come.
  void refuse_if_hopeless(const std::vector<Descriptor>& sockets) const {
    for (int rank = 1; rank < size_; ++rank) {
      if (sockets[rank]) continue;
      if (board_.has(key("outcome", rank))) fail("rank ", rank, " has given up");
      if (Clock::now() > deadline_) fail("rank ", rank, " did not send its memory in time");
    }
  }

  std::chrono::milliseconds left() const {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
    return std::max(left, std::chrono::milliseconds(0));
  }

  const NoticeBoard& board_;
  int rank_;
  int size_;
  const MeetingOptions& options_;
  Clock::time_point deadline_;
};

/// Rank 0 waits for everybody and says where to meet.
std::string choose_address(const NoticeBoard& board, int size, const std::string& here) {
  bool together = here != kApart;
  for (int rank = 1; rank < size; ++rank) {
    together &= board.read(key("machine", rank)) == here;
  }
  return together ? random_name() : kApart;
}

/// Rank 0 hears how it went for everybody; all learn the first thing that went wrong, or nothing.
std::string agree(const NoticeBoard& board, int rank, int size, const std::string& mine) {
  board.post(key("outcome", rank), mine);
  if (rank == 0) {
    std::string verdict;
    // Those who were first say why; that rank 0 has waited for them in vain says less.
    for (int other = size - 1; other >= 0 && verdict.empty(); --other) {
      auto outcome = board.read(key("outcome", other));
      if (!outcome.empty()) verdict = "rank " + std::to_string(other) + ": " + outcome;
    }
    board.post("verdict", verdict);
  }
  return board.read("verdict");
}

}  // namespace

std::optional<Meeting> meet(const NoticeBoard& board, int rank, int size, const MeetingOptions& options) {
  auto here = options.willing ? machine() : kApart;
  board.post(key("machine", rank), here);
  auto address = rank == 0 ? choose_address(board, size, here) : "";
  Descriptor listener;
  std::string problem;
  Meeting meeting;
  try {
    if (rank == 0 && address != kApart) listener = listen_at(address);
  } catch (const Error& error) {
    problem = error.what();
  }
  if (rank == 0) board.post("address", address);
  address = board.read("address");
  if (address == kApart) return std::nullopt;

  if (problem.empty()) {
    try {
      Exchange exchange(board, rank, size, options);
      meeting = rank == 0 ? exchange.as_host(listener) : exchange.as_guest(address);
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  auto verdict = agree(board, rank, size, problem);
  if (!verdict.empty()) fail(verdict);
  return meeting;
}

}  // namespace accelerate::shared_memory
