#pragma once

// Metrics for Weights & Biases, in files that `wandb sync` uploads.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/formats/wandb_file.h"
#include "accelerate/tracking/append_file.h"
#include "accelerate/tracking/tracker.h"

namespace accelerate::tracking {

/// The words of wandb.init, as far as they make sense offline.
struct WandbOptions {
  std::string entity = {};             // else WANDB_ENTITY; the user or team, else that of who uploads
  std::string name = {};               // else WANDB_NAME, else W&B invents one
  std::string id = {};                 // else WANDB_RUN_ID, which goes on with that run, else a new one
  std::string group = {};              // else WANDB_RUN_GROUP
  std::string job_type = {};           // else WANDB_JOB_TYPE
  std::vector<std::string> tags = {};  // else those of WANDB_TAGS, between commas
  std::string notes = {};              // else WANDB_NOTES
  std::filesystem::path dir = {};      // else WANDB_DIR, else the current directory
  std::string mode = {};               // else WANDB_MODE, else offline; disabled writes nothing
};

/// Writes dir/wandb/offline-run-<time>-<id>/run-<id>.wandb as W&B does offline, and the link dir/wandb/latest-run. The
/// values of one step are a row of the history, which is written when the next step begins; they are in the summary,
/// the latest values, at once. Values without a step have the one after the last. W&B's steps never go back: what comes
/// for an earlier one is left out, with a warning. Throws Error when it is made in a mode that needs a server, or with
/// an id that cannot be one.
class WandbTracker : public Tracker {
 public:
  WandbTracker(const std::string& project_name, const WandbOptions& options);

  std::string name() const override { return "wandb"; }
  void start() override;
  void store_init_configuration(const Values& config) override;
  void log(const Values& values, std::optional<int64_t> step) override;
  void finish() override;

  /// What `wandb sync` takes; empty before start().
  const std::filesystem::path& directory() const { return directory_; }

 private:
  void append(const std::vector<formats::ProtobufMessage>& records);
  void write_row();
  double runtime_seconds() const;

  formats::WandbRun run_;
  std::filesystem::path home_;  // where the runs are
  bool disabled_;
  std::filesystem::path directory_;
  std::optional<AppendFile> file_;
  int64_t num_records_ = 0;
  formats::WandbItems row_;  // of the last step. `wandb sync` would take two rows of one step for two steps
  int64_t last_step_ = -1;
};

}  // namespace accelerate::tracking
