#pragma once

// One forked rank, and the pipe that returns the outcome of its function. The only file that forks without exec.
//
// The child of a process that has used OpenMP hangs in its next parallel region, because fork(2) does not copy the
// threads of the pool. A pool belongs to the thread that opened it, so the child runs the function in a new thread.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "accelerate/base/descriptor.h"
#include "accelerate/process/root_cause.h"

namespace accelerate::ranks {

class RankProcess {
 public:
  /// Forks. The child calls `body` in a new thread and sends back what it returns or throws. After a success it waits
  /// until it can read a byte from `barrier_fd`. It ends by _exit, without unwinding the parent's stack.
  RankProcess(int rank, const std::function<std::string()>& body, int barrier_fd);
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;
  /// Kills the process if it still runs.
  ~RankProcess();

  int rank() const { return rank_; }
  pid_t pid() const { return pid_; }

  /// Becomes readable when update() has more to read; -1 after the end of the stream.
  int fd() const { return received_from_.get(); }

  /// Reads what has arrived and checks whether the process has ended. Does not block.
  void update();

  bool returned() const { return outcome_ && outcome_->success; }
  bool ended() const { return wait_status_ || status_is_lost_; }

  /// What `body` returned.
  const std::string& result() const { return outcome_->text; }

  /// Why the rank failed: the text of its exception, or how its process ended. Nothing if it still runs or has
  /// returned.
  std::optional<std::string> failure() const;

  /// Whether the rank failed because another one is gone or did not take part.
  bool lost_peer() const { return outcome_ && outcome_->lost_peer; }

  /// The failure for process::root_cause(). A rank that crashed or called exit is silent: it has sent no outcome.
  process::Failure evidence() const;

  void send_signal(int number);

 private:
  struct Outcome {
    bool success;
    bool lost_peer;
    int64_t time;  // of the steady clock, which all processes of a machine share
    std::string text;
  };

  void look_for_end();
  void read_outcome();
  void decode_outcome();
  bool crashed() const;

  int rank_;
  pid_t pid_ = -1;
  Descriptor received_from_;
  std::string received_;
  std::optional<Outcome> outcome_;
  std::optional<int> wait_status_;
  bool status_is_lost_ = false;  // the process has ended, but its status was reaped elsewhere
};

}  // namespace accelerate::ranks
