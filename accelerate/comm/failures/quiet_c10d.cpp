#include "accelerate/comm/failures/quiet_c10d.h"

#include <algorithm>
#include <atomic>

#include <c10/util/Logging.h>

#include "accelerate/base/environment.h"

namespace accelerate::comm {

namespace {

constexpr int kErrors = 2;  // c10's levels are those of glog: 1 is a warning

std::atomic<int> num_quiet_scopes = 0;

bool level_is_chosen() {
  static const bool chosen = environment_variable("TORCH_CPP_LOG_LEVEL").has_value();
  return chosen;
}

std::atomic_ref<int> log_level() { return std::atomic_ref<int>(FLAGS_caffe2_log_level); }

/// The level before the first scope. Read once: two threads may leave and enter scopes at the same time.
int usual_level() {
  static const int level = log_level();
  return level;
}

}  // namespace

QuietC10d::QuietC10d() {
  if (level_is_chosen()) return;
  const int level = usual_level();
  if (num_quiet_scopes++ == 0) log_level() = std::max(level, kErrors);
}

QuietC10d::~QuietC10d() {
  if (!level_is_chosen() && --num_quiet_scopes == 0) log_level() = usual_level();
}

}  // namespace accelerate::comm
