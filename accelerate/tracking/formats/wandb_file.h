#pragma once

// The format of an offline Weights & Biases run for `wandb sync`: protocol buffer records in a log of blocks, like
// LevelDB's.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accelerate/tracking/formats/protobuf.h"

namespace accelerate::tracking {

/// The identity of a run. The server chooses texts that are empty.
struct WandbRun {
  std::string id = {};
  std::string entity = {};
  std::string project = {};
  std::string group = {};
  std::string job_type = {};
  std::string name = {};
  std::string notes = {};
  std::vector<std::string> tags = {};
  std::string host = {};
  double start_time = 0;  // in seconds since the Unix epoch
  bool resume = false;    // continues the run with this id if it exists
};

/// Values as JSON, each with its path of names: {"eval", "accuracy"} for a value in a map.
using WandbItems = std::vector<std::pair<std::vector<std::string>, std::string>>;

/// The first record of every file.
ProtobufMessage wandb_version_record(std::string_view run_id);
/// The second record of a file.
ProtobufMessage wandb_run_record(const WandbRun& run);
/// Settings, keyed by the first name of their path.
ProtobufMessage wandb_config_record(const WandbItems& items);
/// A row of the run's history.
ProtobufMessage wandb_history_record(const WandbItems& items, int64_t step);
/// The latest values. Other items keep theirs.
ProtobufMessage wandb_summary_record(const WandbItems& items);
/// The end of a successful run.
ProtobufMessage wandb_exit_record(int64_t runtime_seconds);

/// The bytes to append to a file of `file_bytes` that has `num_records` records. Includes the file header if the file
/// is empty.
std::string wandb_file_bytes(uint64_t file_bytes, int64_t num_records, const std::vector<ProtobufMessage>& records);

}  // namespace accelerate::tracking
