#include "examples/support/run_arguments.h"

#include <CLI/CLI.hpp>

namespace examples {

bool CheckpointArguments::is_due(int64_t step) const {
  return !checkpointing_steps.empty() && !is_due_after_epoch() && step % std::stoll(checkpointing_steps) == 0;
}

void CheckpointArguments::add_to(CLI::App& app) {
  app.add_option("--output_dir", output_dir, "Where checkpoints are saved")->capture_default_str();
  app.add_option("--checkpointing_steps", checkpointing_steps, "Save every so many steps, or every 'epoch'")
      ->check(CLI::Range(1, 1'000'000'000) | CLI::IsMember({"epoch"}));
  app.add_option("--resume_from_checkpoint", resume_from_checkpoint,
                 "The directory to go on from; in the complete examples also 'latest'");
}

void TrackingArguments::add_to(CLI::App& app) {
  app.add_flag("--with_tracking", with_tracking, "Log to JSON lines and TensorBoard, in the output directory");
}

}  // namespace examples
