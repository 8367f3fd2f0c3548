#include "accelerate/tracking/jsonl_tracker.h"

#include "accelerate/base/atomic_file.h"
#include "accelerate/tracking/record.h"

namespace accelerate::tracking {

void JsonlTracker::start() {
  auto path = directory_ / "metrics.jsonl";
  drop_torn_line(path);
  file_.emplace(path);
}

void JsonlTracker::store_init_configuration(const Values& config) {
  write_file_atomically(directory_ / "config.json", to_json(config) + "\n");
}

void JsonlTracker::log(const Values& values, std::optional<int64_t> step) {
  file_->append(to_json(record_of(values, step)) + "\n");
}

}  // namespace accelerate::tracking
