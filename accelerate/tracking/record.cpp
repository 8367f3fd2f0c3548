#include "accelerate/tracking/record.h"

#include "accelerate/tracking/wall_time.h"

namespace accelerate::tracking {

Values record_of(const Values& values, std::optional<int64_t> step) {
  Values record;
  if (step) record.emplace_back("step", *step);
  record.emplace_back("time", wall_time());
  for (const auto& [name, value] : values) {
    const bool is_taken = name == "time" || (step && name == "step");
    record.emplace_back(is_taken ? "metric/" + name : name, value);
  }
  return record;
}

}  // namespace accelerate::tracking
