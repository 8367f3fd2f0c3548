#include "accelerate/ranks/rank_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"
#include "accelerate/process/crash_file.h"
#include "accelerate/process/exit_status.h"
#include "accelerate/process/lost_peer.h"
#include "accelerate/process/signals.h"

namespace accelerate::ranks {

namespace {

/// What precedes the text on the pipe.
struct Header {
  bool success;
  bool lost_peer;
  int64_t time;
  uint64_t size;
};

void flush_streams() {
  std::cout.flush();
  std::cerr.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

/// The current exception in words.
std::string describe_exception() {
  try {
    throw;
  } catch (const std::exception& error) {
    return process::message_of(error);
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

[[noreturn]] void live_as_rank(const std::function<std::string()>& body, pid_t parent, int outcome_fd, int barrier_fd) {
  process::restore_default_signals();  // a signal ends the rank, and the parent reports it
  process::clear_lost_peer();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent ended before prctl(2)

  Header header{};
  std::string text;
  std::thread([&] {
    try {
      text = body();
      header.success = true;
    } catch (...) {
      text = describe_exception();
      header.lost_peer = process::has_lost_peer();
    }
    header.time = std::chrono::steady_clock::now().time_since_epoch().count();
  }).join();

  flush_streams();
  header.size = text.size();
  write_all(outcome_fd, {reinterpret_cast<const char*>(&header), sizeof(header)});
  write_all(outcome_fd, text);
  if (!header.success) _exit(1);
  // A rank that exits early resets connections that its peers still read from.
  char byte;
  while (::read(barrier_fd, &byte, 1) < 0 && errno == EINTR) {
  }
  flush_streams();
  _exit(0);
}

}  // namespace

RankProcess::RankProcess(int rank, const std::function<std::string()>& body, int barrier_fd) : rank_(rank) {
  auto problem = "rank " + std::to_string(rank) + " cannot be started";
  auto outcome = open_pipe(problem);
  flush_streams();
  auto parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    outcome.read_end = Descriptor();
    live_as_rank(body, parent, outcome.write_end.get(), barrier_fd);
  }
  if (pid_ < 0) fail(problem, ": fork: ", std::strerror(errno));
  received_from_ = std::move(outcome.read_end);
  fcntl(fd(), F_SETFL, O_NONBLOCK);
}

RankProcess::~RankProcess() {
  if (!ended()) {
    send_signal(SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

void RankProcess::read_outcome() {
  char part[65536];
  while (received_from_) {
    auto size = ::read(fd(), part, sizeof(part));
    if (size > 0) {
      received_.append(part, size);
    } else if (size == 0) {
      received_from_ = Descriptor();
    } else if (errno != EINTR) {
      return;
    }
  }
}

void RankProcess::decode_outcome() {
  Header header;
  if (outcome_ || received_.size() < sizeof(header)) return;
  std::memcpy(&header, received_.data(), sizeof(header));
  if (received_.size() - sizeof(header) < header.size) return;
  outcome_ = Outcome{header.success, header.lost_peer, header.time, received_.substr(sizeof(header))};
}

void RankProcess::update() {
  // Check for the end first: after it, the pipe holds everything that the process wrote.
  if (!ended()) look_for_end();
  read_outcome();
  decode_outcome();
}

void RankProcess::look_for_end() {
  int status = 0;
  auto found = waitpid(pid_, &status, WNOHANG);
  if (found == pid_) wait_status_ = status;
  // The program ignores SIGCHLD, or waits for children itself.
  status_is_lost_ = found < 0 && errno == ECHILD;
}

bool RankProcess::crashed() const { return wait_status_ && WIFSIGNALED(*wait_status_); }

std::optional<std::string> RankProcess::failure() const {
  if (returned()) return std::nullopt;
  if (outcome_) return outcome_->text;
  if (!ended()) return std::nullopt;
  if (status_is_lost_) {
    return "its process ended before its function returned, for an unknown reason, because this program ignores "
           "SIGCHLD or waits for children itself";
  }
  auto end = process::describe_exit(*wait_status_);
  return crashed() ? end : end + " before its function returned";
}

process::Failure RankProcess::evidence() const {
  return {.victim = lost_peer(), .silent = !outcome_, .began = outcome_ ? outcome_->time : 0, .order = rank_};
}

void RankProcess::send_signal(int number) {
  if (!ended()) kill(pid_, number);
}

}  // namespace accelerate::ranks
