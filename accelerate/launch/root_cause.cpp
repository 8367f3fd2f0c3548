#include "accelerate/launch/root_cause.h"

#include <sys/wait.h>

#include <algorithm>
#include <tuple>

namespace accelerate::launch {

namespace {

enum class Evidence { Killed, Reported, Ended };

Evidence evidence_of(const Failure& failure) {
  if (failure.reported) return Evidence::Reported;
  return WIFSIGNALED(failure.wait_status) ? Evidence::Killed : Evidence::Ended;
}

}  // namespace

size_t root_cause(const std::vector<Failure>& failures) {
  auto key = [](const Failure& failure) {
    return std::tuple(evidence_of(failure), failure.reported.value_or(std::filesystem::file_time_type::min()),
                      failure.order);
  };
  auto first = std::min_element(failures.begin(), failures.end(),
                                [&](const auto& left, const auto& right) { return key(left) < key(right); });
  return static_cast<size_t>(first - failures.begin());
}

}  // namespace accelerate::launch
