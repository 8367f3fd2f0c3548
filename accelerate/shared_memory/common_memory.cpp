#include "accelerate/shared_memory/common_memory.h"

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

/// Where the first rank has its descriptor, and which file that is.
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

/// Null where it cannot be opened. In another namespace the number of the process may be anybody's, so nothing is
/// opened before it is known to be the file.
std::shared_ptr<Segment> open_memory(const FileCard& card) {
  const auto path = "/proc/" + std::to_string(card.process) + "/fd/" + std::to_string(card.descriptor);
  struct stat status{};
  if (stat(path.c_str(), &status) != 0 || status.st_dev != card.device || status.st_ino != card.inode) return nullptr;
  Descriptor descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
  return descriptor ? std::make_shared<Segment>(std::move(descriptor)) : nullptr;
}

/// commit() of the pages that `range` touches.
void commit_range(Segment& segment, const Range& range) {
  if (range.length == 0) return;
  const size_t begin = range.begin / page_bytes() * page_bytes();
  segment.commit(begin, range.begin + range.length - begin);
}

enum class Outcome : uint64_t { Done, NotReached, NoMemory };

/// What this rank has of the memory, and what has become of it.
struct Attempt {
  std::shared_ptr<Segment> segment = nullptr;
  Outcome outcome = Outcome::NotReached;
  std::string error = {};

  /// Runs `work`, unless something went wrong before; what it throws is kept for when the others know of it.
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

/// Shows everybody the card of the first rank. When it returns, all ranks have called it.
FileCard exchange_card(Channel& channel, const Call& call, const Attempt& attempt) {
  FileCard card;
  if (attempt.segment) card = file_card_of(*attempt.segment);
  std::memcpy(channel.stage(), &card, sizeof(card));
  channel.arrive_and_wait(call);
  std::memcpy(&card, channel.staged(0), sizeof(card));
  return card;
}

/// The memory if all ranks have it. When it returns, all ranks have called it.
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

std::shared_ptr<Segment> make_common_memory(Channel& channel, size_t bytes, const std::vector<Range>& own) {
  const Call call{.operation = Operation::Share, .count = bytes};
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
