#pragma once

// One forked rank, and the pipe through which the outcome of its function comes back. The only file that forks without
// exec.
//
// A forked copy of a process that has computed with OpenMP hangs in its next parallel region, because the pool's
// threads do not exist in it. A pool belongs to the thread that opened it, so the function runs in a fresh thread of
// the child.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "accelerate/base/descriptor.h"

namespace accelerate::ranks {

class RankProcess {
 public:
  /// Forks. The child calls `body` in a new thread, sends back what it returns or throws, and after a success waits at
  /// the gate: until `gate_fd` yields a byte. Nothing of the parent's stack is unwound in the child; it ends by _exit.
  RankProcess(int rank, const std::function<std::string()>& body, int gate_fd);
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;
  /// Kills the process if it still runs.
  ~RankProcess();

  int rank() const { return rank_; }
  pid_t pid() const { return pid_; }

  /// Becomes readable when there is more for `update`; -1 when nothing more will come.
  int fd() const { return received_from_.get(); }

  /// Takes in what has arrived and notices the end of the process. Does not wait.
  void update();

  bool returned() const { return outcome_ && outcome_->success; }
  bool ended() const { return wait_status_ || status_is_lost_; }

  /// What `body` returned.
  const std::string& result() const { return outcome_->text; }

  /// Why the rank failed: the text of its exception, or how its process ended. Nothing while it runs or when it
  /// returned.
  std::optional<std::string> failure() const;

  /// Whether the rank failed because another one is gone or did not take part.
  bool lost_peer() const;

  /// Failures in the order of their causes: ranks that lost a peer come last. Crashes and exits come first because they
  /// say nothing themselves, and the peers that notice them often speak before the process has ended.
  bool failed_before(const RankProcess& other) const;

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
  bool status_is_lost_ = false;  // the process has ended, and somebody else took its status
};

}  // namespace accelerate::ranks
