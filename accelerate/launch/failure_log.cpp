#include "accelerate/launch/failure_log.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "accelerate/base/read_file.h"
#include "accelerate/process/lost_peer.h"

namespace accelerate::launch {

namespace fs = std::filesystem;
using process::Evidence;

namespace {

std::optional<Evidence::Time> time_of(const fs::path& path) {
  std::error_code error;
  auto time = fs::last_write_time(path, error);
  return error ? std::nullopt : std::optional(time);
}

/// Whether a report contains a message of gloo, the kernel or NCCL about a lost peer, as reports of Python programs do.
bool complains_about_peer(const fs::path& error_file) {
  auto text = read_file_if_there(error_file).value_or("");
  constexpr std::array<std::string_view, 4> kComplaints = {"Connection closed by peer", "Connection reset by peer",
                                                           "Broken pipe", "remote process exited"};
  return std::any_of(kComplaints.begin(), kComplaints.end(),
                     [&](auto complaint) { return text.find(complaint) != std::string::npos; });
}

/// The evidence that a rank has left. It has ended, so the evidence is complete.
Evidence evidence_of(const Rank& rank, int order, Evidence::Time seen) {
  Evidence evidence{.wait_status = *rank.child->wait_status(), .order = order, .ended = seen};
  if (rank.error_file.empty()) return evidence;
  evidence.reported = time_of(rank.error_file);
  evidence.lost_peer = time_of(process::lost_peer_file(rank.error_file));
  if (evidence.reported && !evidence.lost_peer && complains_about_peer(rank.error_file)) {
    evidence.lost_peer = evidence.reported;
  }
  return evidence;
}

}  // namespace

FailureLog::FailureLog(const std::vector<Rank>& ranks)
    : ranks_(ranks), ends_(epoll_create1(EPOLL_CLOEXEC)), order_(ranks.size(), -1) {
  for (size_t i = 0; i < ranks.size(); ++i) {
    Descriptor handle(static_cast<int>(syscall(SYS_pidfd_open, ranks[i].child->pid(), 0)));
    epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.u64 = i}};
    if (handle) epoll_ctl(ends_.get(), EPOLL_CTL_ADD, handle.get(), &event);
    handles_.push_back(std::move(handle));
  }
}

void FailureLog::take_ends() {
  std::array<epoll_event, 64> events;
  for (int count; (count = epoll_wait(ends_.get(), events.data(), events.size(), 0)) > 0;) {
    std::for_each_n(events.begin(), count, [&](const auto& event) { order_[event.data.u64] = next_++; });
  }
}

void FailureLog::look() {
  auto now = Evidence::Time::clock::now();  // the same for all, so that the order of ends decides
  for (size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].child->wait_status().value_or(0) == 0) continue;
    bool known = std::any_of(failures_.begin(), failures_.end(), [i](const auto& failed) { return failed.index == i; });
    if (known) continue;
    take_ends();                             // an end visible to waitid is in the epoll list by now
    if (order_[i] < 0) order_[i] = next_++;  // kernel without pidfd_open(2)
    failures_.push_back({i, evidence_of(ranks_[i], order_[i], now)});
  }
}

bool FailureLog::only_victims() const {
  return std::all_of(failures_.begin(), failures_.end(), [](const auto& failed) { return is_victim(failed.evidence); });
}

FailureLog::FailedRank FailureLog::root_cause() const {
  std::vector<process::Failure> failures;
  for (const auto& failed : failures_) failures.push_back(failure_of(failed.evidence));
  return failures_[process::root_cause(failures)];
}

}  // namespace accelerate::launch
