#include "accelerate/shared_memory/peer_memory.h"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <random>

#include "accelerate/base/environment.h"

namespace accelerate::shared_memory {

namespace {

std::mutex permission_mutex;
int num_permissions = 0;  // groups of this process that need it

bool may_grant() { return getppid() > 1 && environment_flag("ACCELERATE_SETUP_PTRACER", true); }

/// What a rank publishes about its process: the other ranks probe whether they can read and write the secret.
struct Card {
  pid_t process = 0;
  uint64_t* secret_address = nullptr;
  uint64_t secret = 0;
};

Card card_of(const Channel& channel, int rank) {
  Card card;
  std::memcpy(&card, channel.staged(rank), sizeof(card));
  return card;
}

/// Whether the PID on the card belongs to the rank that published it. In another PID namespace it may belong to an
/// unrelated process, so nothing is written before this is known.
bool finds_secret(const Card& card) {
  uint64_t found = 0;
  const iovec here{&found, sizeof(found)}, there{card.secret_address, sizeof(found)};
  return process_vm_readv(card.process, &here, 1, &there, 1, 0) == sizeof(found) && found == card.secret;
}

bool can_write(const Card& card) {
  uint64_t same = card.secret;
  const iovec here{&same, sizeof(same)}, there{card.secret_address, sizeof(same)};
  return process_vm_writev(card.process, &here, 1, &there, 1, 0) == sizeof(same);
}

}  // namespace

PeerPermission::PeerPermission() : granted_(may_grant()) {
  std::lock_guard lock(permission_mutex);
  if (granted_ && num_permissions++ == 0) prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
}

PeerPermission::~PeerPermission() {
  std::lock_guard lock(permission_mutex);
  if (granted_ && --num_permissions == 0) prctl(PR_SET_PTRACER, 0, 0, 0, 0);
}

PeerMemory::PeerMemory(Channel& channel) : reachable_(try_all(channel)) {
  if (reachable_) return;
  permission_ = std::make_unique<PeerPermission>();
  reachable_ = try_all(channel);
  if (!reachable_) permission_.reset();
}

/// Whether every rank can write to every other. All ranks get the same result.
bool PeerMemory::try_all(Channel& channel) {
  constexpr Call kCall{.operation = Operation::Exchange};
  std::random_device random;
  uint64_t secret = uint64_t{random()} << 32 | random();
  const Card own{.process = getpid(), .secret_address = &secret, .secret = secret};
  std::memcpy(channel.stage(), &own, sizeof(own));
  channel.arrive_and_wait(kCall);
  bool all_reached = true;
  processes_.clear();
  for (int rank = 0; rank < channel.size(); ++rank) {
    const auto card = card_of(channel, rank);
    processes_.push_back(card.process);
    all_reached = all_reached && finds_secret(card) && can_write(card);
  }
  channel.arrive_and_wait(kCall, /*payload=*/all_reached);
  bool reachable = true;
  for (int rank = 0; rank < channel.size(); ++rank) reachable = reachable && channel.payload_of(rank) != 0;
  return reachable;
}

void PeerMemory::write(int rank, std::byte* there, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const iovec from{const_cast<std::byte*>(bytes.data()), bytes.size()}, to{there, bytes.size()};
    const auto written = process_vm_writev(processes_[rank], &from, 1, &to, 1, 0);
    if (written < 0 && errno == ESRCH) return;
    if (written <= 0) {
      fail(bytes.size(), " bytes cannot be written to the memory of rank ", rank, ": ", std::strerror(errno));
    }
    bytes = bytes.subspan(written);
    there += written;
  }
}

}  // namespace accelerate::shared_memory
