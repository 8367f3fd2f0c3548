#include "accelerate/launch/root_cause.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <tuple>

namespace accelerate::launch {

namespace {

bool was_killed(const Failure& failure) {
  return !failure.reported && WIFSIGNALED(failure.wait_status) && WTERMSIG(failure.wait_status) != SIGABRT;
}

}  // namespace

bool is_victim(const Failure& failure) {
  return failure.lost_peer && (!failure.reported || *failure.lost_peer <= *failure.reported);
}

Failure::Time begin_of(const Failure& failure) {
  return is_victim(failure) ? *failure.lost_peer : failure.reported.value_or(failure.ended);
}

size_t root_cause(const std::vector<Failure>& failures) {
  auto key = [](const Failure& failure) {
    return std::tuple(is_victim(failure), !was_killed(failure), begin_of(failure), failure.order);
  };
  auto first = std::min_element(failures.begin(), failures.end(),
                                [&](const auto& left, const auto& right) { return key(left) < key(right); });
  return static_cast<size_t>(first - failures.begin());
}

}  // namespace accelerate::launch
