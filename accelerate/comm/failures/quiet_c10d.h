#pragma once

// Silences what c10d logs about the job's store.

namespace accelerate::comm {

/// While an object lives, libtorch logs errors only. c10d warns about host names that it cannot resolve for its own
/// log, and logs a backtrace for each lost connection before it throws; the exception says the same. The level applies
/// to the whole process, so keep the scope to one call of the store. A level set by the user (TORCH_CPP_LOG_LEVEL) is
/// not changed.
class QuietC10d {
 public:
  QuietC10d();
  QuietC10d(const QuietC10d&) = delete;
  QuietC10d& operator=(const QuietC10d&) = delete;
  ~QuietC10d();
};

}  // namespace accelerate::comm
