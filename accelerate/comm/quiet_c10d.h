#pragma once

// Keeps the log lines that c10d writes about the job's store away from standard error.

namespace accelerate::comm {

/// While one lives, libtorch logs errors only. c10d warns of host names that it cannot look up for its own log, and
/// adds a backtrace to each lost connection before it throws; the exception says the same. The level is that of the
/// whole process, so the scope is one call of the store. A level that the user has chosen (TORCH_CPP_LOG_LEVEL) stays.
class QuietC10d {
 public:
  QuietC10d();
  QuietC10d(const QuietC10d&) = delete;
  QuietC10d& operator=(const QuietC10d&) = delete;
  ~QuietC10d();
};

}  // namespace accelerate::comm
