#pragma once

// The bytes of a run of Weights & Biases that waits on the disk for `wandb sync`: records of protocol buffers in a log
// of blocks, as LevelDB has them.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accelerate/formats/protobuf.h"

namespace accelerate::formats {

/// What a run is called and where it belongs. Texts that are empty are left for the server to choose.
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
  double start_time = 0;  // in seconds since 1970
  bool resume = false;    // goes on with a run of this id where there is one
};

/// Values as JSON, each with the names that lead to it: {"eval", "accuracy"} for a value in a map.
using WandbItems = std::vector<std::pair<std::vector<std::string>, std::string>>;

/// The record that every file begins with.
ProtobufMessage wandb_version_record(std::string_view run_id);
/// The second record of a file.
ProtobufMessage wandb_run_record(const WandbRun& run);
/// Settings, by the first of their names.
ProtobufMessage wandb_config_record(const WandbItems& items);
/// A row of the run's history.
ProtobufMessage wandb_history_record(const WandbItems& items, int64_t step);
/// The latest values; items that are not mentioned keep theirs.
ProtobufMessage wandb_summary_record(const WandbItems& items);
/// The end of a run that went well.
ProtobufMessage wandb_exit_record(int64_t runtime_seconds);

/// The bytes that add records to a file of `file_bytes` in which there are `num_records` already. To an empty file they
/// add its header too.
std::string wandb_file_bytes(uint64_t file_bytes, int64_t num_records, const std::vector<ProtobufMessage>& records);

}  // namespace accelerate::formats
