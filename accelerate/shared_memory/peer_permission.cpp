#include "accelerate/shared_memory/peer_permission.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <mutex>

namespace accelerate::shared_memory {

namespace {

std::mutex permission_mutex;
int num_permissions = 0;  // groups of this process that need it

}  // namespace

PeerPermission::PeerPermission() {
  std::lock_guard lock(permission_mutex);
  const auto parent = getppid();
  if (num_permissions++ == 0 && parent > 1) prctl(PR_SET_PTRACER, parent, 0, 0, 0);
}

PeerPermission::~PeerPermission() {
  std::lock_guard lock(permission_mutex);
  if (--num_permissions == 0) prctl(PR_SET_PTRACER, 0, 0, 0, 0);
}

}  // namespace accelerate::shared_memory
