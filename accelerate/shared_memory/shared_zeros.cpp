#include "accelerate/shared_memory/shared_zeros.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"

namespace accelerate::shared_memory {

namespace {

/// How other ranks open the first rank's segment: through its descriptor in /proc. Device and inode identify the file.
struct FileCard {
  pid_t process = 0;
  int descriptor = -1;
  dev_t device = 0;
  ino_t inode = 0;
};

FileCard file_card_of(const Segment& segment) {
  struct stat status{};
  fstat(segment.descriptor().get(), &status);
  return {
      .process = getpid(), .descriptor = segment.descriptor().get(), .device = status.st_dev, .inode = status.st_ino};
}

/// Opens and maps the segment of the first rank. Returns null if it cannot be opened. In another PID namespace the
/// process id may belong to an unrelated process, so the file is identified before it is opened.
std::shared_ptr<Segment> open_memory(const FileCard& card) {
  const auto path = "/proc/" + std::to_string(card.process) + "/fd/" + std::to_string(card.descriptor);
  struct stat status{};
  if (stat(path.c_str(), &status) != 0 || status.st_dev != card.device || status.st_ino != card.inode) return nullptr;
  Descriptor descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
  return descriptor ? std::make_shared<Segment>(std::move(descriptor)) : nullptr;
}

/// Commits the pages that overlap `range`.
void commit_range(Segment& segment, const Range& range) {
  if (range.length == 0) return;
  const size_t begin = range.begin / page_bytes() * page_bytes();
  segment.commit(begin, range.begin + range.length - begin);
}

enum class Outcome : uint64_t { Done, NotReached, NoMemory };

/// This rank's mapping of the memory, and whether it succeeded.
struct Attempt {
  std::shared_ptr<Segment> segment = nullptr;
  Outcome outcome = Outcome::NotReached;
  std::string error = {};

  /// Calls `work` unless an earlier call has thrown. Stores the message of its Error; agreed() throws on all ranks.
  template <class Work>
  void run(Work work) {
    if (outcome == Outcome::NoMemory) return;
    try {
      work();
      outcome = segment ? Outcome::Done : Outcome::NotReached;
    } catch (const Error& failure) {
      outcome = Outcome::NoMemory;
      error = failure.what();
    }
  }
};

/// Broadcasts the card of the first rank. Contains a barrier.
FileCard exchange_card(Channel& channel, const Call& call, const Attempt& attempt) {
  FileCard card;
  if (attempt.segment) card = file_card_of(*attempt.segment);
  std::memcpy(channel.stage(), &card, sizeof(card));
  channel.arrive_and_wait(call);
  std::memcpy(&card, channel.staged(0), sizeof(card));
  return card;
}

/// The segment if all ranks have mapped it, otherwise null on all ranks. Throws Error on all ranks if one has no
/// memory. Contains a barrier.
std::shared_ptr<Segment> agreed(Channel& channel, const Call& call, const Attempt& attempt) {
  channel.arrive_and_wait(call, static_cast<uint64_t>(attempt.outcome));
  bool done = true;
  for (int rank = 0; rank < channel.size(); ++rank) {
    const auto outcome = static_cast<Outcome>(channel.payload_of(rank));
    done = done && outcome == Outcome::Done;
    if (outcome != Outcome::NoMemory) continue;
    fail(call.count, " bytes of memory shared by the ranks cannot be allocated: ",
         attempt.error.empty() ? "rank " + std::to_string(rank) + " has no memory for its part" : attempt.error);
  }
  return done ? attempt.segment : nullptr;
}

}  // namespace

std::shared_ptr<Segment> shared_zeros(Channel& channel, size_t bytes, const std::vector<Range>& own) {
  const Call call{.operation = Operation::SharedZeros, .count = bytes};
  Attempt attempt;
  if (channel.rank() == 0) attempt.run([&] { attempt.segment = std::make_shared<Segment>(bytes); });
  const auto card = exchange_card(channel, call, attempt);
  attempt.run([&] {
    if (!attempt.segment) attempt.segment = open_memory(card);
    if (!attempt.segment) return;
    for (const auto& range : own) commit_range(*attempt.segment, range);
  });
  return agreed(channel, call, attempt);
}

}  // namespace accelerate::shared_memory
