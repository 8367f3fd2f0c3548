#pragma once

// A tracker for Weights & Biases that writes files for `wandb sync` to upload.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/tracking/append_file.h"
#include "accelerate/tracking/formats/wandb_file.h"
#include "accelerate/tracking/tracker.h"
#include "accelerate/tracking/tracker_options.h"

namespace accelerate::tracking {

/// Writes dir/wandb/offline-run-<time>-<id>/run-<id>.wandb in W&B's offline format, and the link dir/wandb/latest-run.
/// The values of one step form a row of the history, which is written when the next step begins. The summary (the
/// latest values) is written at once. Values without a step get the step after the last. W&B's steps never decrease:
/// values of an earlier step are dropped with a warning. The constructor throws Error for a mode that needs a server,
/// or for an invalid id.
class WandbTracker : public Tracker {
 public:
  WandbTracker(const std::string& project_name, const WandbOptions& options);

  std::string name() const override { return "wandb"; }
  void start() override;
  void store_init_configuration(const Values& config) override;
  void log(const Values& values, std::optional<int64_t> step) override;
  void finish() override;

  /// The directory for `wandb sync`. Empty before start().
  const std::filesystem::path& directory() const { return directory_; }

 private:
  void append(const std::vector<ProtobufMessage>& records);
  void write_row();
  double runtime_seconds() const;

  WandbRun run_;
  std::filesystem::path home_;  // the parent directory of the runs
  bool disabled_;
  std::filesystem::path directory_;
  std::optional<AppendFile> file_;
  int64_t num_records_ = 0;
  WandbItems row_;  // of the last step; `wandb sync` would count two rows of one step as two steps
  int64_t last_step_ = -1;
};

}  // namespace accelerate::tracking
