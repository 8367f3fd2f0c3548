#include "accelerate/shared_memory/peer_permission.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <mutex>

#include "accelerate/base/environment.h"

namespace accelerate::shared_memory {

namespace {

std::mutex permission_mutex;
int num_permissions = 0;  // groups of this process that need it

bool may_grant() { return getppid() > 1 && environment_flag("ACCELERATE_SETUP_PTRACER", true); }

}  // namespace

PeerPermission::PeerPermission() : granted_(may_grant()) {
  std::lock_guard lock(permission_mutex);
  if (granted_ && num_permissions++ == 0) prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
}

PeerPermission::~PeerPermission() {
  std::lock_guard lock(permission_mutex);
  if (granted_ && --num_permissions == 0) prctl(PR_SET_PTRACER, 0, 0, 0, 0);
}

}  // namespace accelerate::shared_memory
