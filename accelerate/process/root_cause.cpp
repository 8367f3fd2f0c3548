#include "accelerate/process/root_cause.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <tuple>

namespace accelerate::process {

namespace {

bool was_killed(const Evidence& evidence) {
  return !evidence.reported && WIFSIGNALED(evidence.wait_status) && WTERMSIG(evidence.wait_status) != SIGABRT;
}

}  // namespace

size_t root_cause(const std::vector<Failure>& failures) {
  auto key = [](const Failure& failure) {
    return std::tuple(failure.victim, !failure.silent, failure.began, failure.order);
  };
  auto first = std::min_element(failures.begin(), failures.end(),
                                [&](const auto& left, const auto& right) { return key(left) < key(right); });
  return static_cast<size_t>(first - failures.begin());
}

bool is_victim(const Evidence& evidence) {
  return evidence.lost_peer && (!evidence.reported || *evidence.lost_peer <= *evidence.reported);
}

Evidence::Time begin_of(const Evidence& evidence) {
  return is_victim(evidence) ? *evidence.lost_peer : evidence.reported.value_or(evidence.ended);
}

Failure failure_of(const Evidence& evidence) {
  return {.victim = is_victim(evidence),
          .silent = was_killed(evidence),
          .began = begin_of(evidence).time_since_epoch().count(),
          .order = evidence.order};
}

}  // namespace accelerate::process
