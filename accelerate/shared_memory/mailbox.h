#pragma once

// Messages from one rank to another. A message is copied to the heap of its sender, who goes on at once; so two ranks
// that send to each other before they receive do not wait for each other.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/shared_memory/channel.h"
#include "accelerate/shared_memory/heap.h"

namespace accelerate::shared_memory {

/// One rank's side. While one thread sends another may receive, but only one at a time does either.
class Mailbox {
 public:
  static constexpr int kAnyRank = -1;

  Mailbox(GroupMemory memory, int rank, std::shared_ptr<Heap> heap);

  /// Sends `bytes` from `data`. Waits only when `to` has not read the last Control::kLetters messages; throws PeerError
  /// when it has not after `limit`, or is not there any more.
  void send(const std::byte* data, size_t bytes, int to, int tag, std::chrono::milliseconds limit);

  /// Takes the oldest message with `tag` from rank `from`, or from any, and returns who sent it. Throws PeerError when
  /// none has come after `limit`, or none can come any more; without a limit it only looks, and there may be nothing.
  /// Throws Error when the message does not have `bytes`.
  std::optional<int> receive(std::byte* data, size_t bytes, int from, int tag, std::chrono::milliseconds limit);

 private:
  struct Sent {
    Letter* letter;
    size_t offset;
  };

  void check_reader(int to) const;
  Letter* free_letter(int to) const;
  void free_what_was_read();
  bool take(std::byte* data, size_t bytes, int from, int tag);
  template <class Ready>
  void wait(Waiter& waiter, std::chrono::milliseconds limit, const std::string& what, Ready ready);

  GroupMemory memory_;
  int rank_;
  std::shared_ptr<Heap> heap_;
  Waiter sending_;
  Waiter receiving_;
  std::vector<uint64_t> num_sent_;  // by receiver
  std::vector<Sent> unread_;
};

}  // namespace accelerate::shared_memory
