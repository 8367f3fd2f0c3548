#pragma once

// What examples that save checkpoints or track their metrics take from their command line besides the rest.

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace examples {

struct CheckpointArguments {
  std::string output_dir = ".";
  std::string checkpointing_steps = {};     // a number of steps, or "epoch"; empty: no checkpoints
  std::string resume_from_checkpoint = {};  // a directory or "latest"; empty: start from the beginning

  /// Whether a checkpoint is due after this many steps.
  bool is_due(int64_t step) const;
  bool is_due_after_epoch() const { return checkpointing_steps == "epoch"; }
  bool resumes_latest() const { return resume_from_checkpoint == "latest"; }

  void add_to(CLI::App& app);
};

struct TrackingArguments {
  bool with_tracking = false;

  void add_to(CLI::App& app);
};

}  // namespace examples
