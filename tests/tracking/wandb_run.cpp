// Writes an offline run below WANDB_DIR, for wandb_sync_test.py: wandb_run [killed | resumed].

#include <unistd.h>

#include <cmath>
#include <iostream>
#include <string>
#include <string_view>

#include "accelerate/tracking/wandb_tracker.h"

int main(int argc, char** argv) {
  accelerate::tracking::WandbTracker tracker(
      "a project",
      {.name = "first", .group = "nights", .job_type = "train", .tags = {"blue", "small"}, .notes = "two\nlines"});
  tracker.start();
  std::cout << tracker.directory().string() << std::endl;
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (how == "resumed") {
    tracker.log({{"loss", 0.5}}, std::nullopt);
    tracker.log({{"loss", 0.25}}, 1000);
    tracker.log({{"loss", 0.125}}, 2000);
    tracker.finish();
    return 0;
  }
  tracker.store_init_configuration({{"lr", 3e-5}, {"bias", true}, {"model", {{"layers", 12}, {"name", "bert \"é\""}}}});
  for (int step = 0; step < 1500; ++step) tracker.log({{"loss", 1.0 / (step + 1)}}, step);
  tracker.log({{"lr", 0.5}}, 1499);
  tracker.log({{"long", std::string(100'000, 'x')}}, 1500);
  tracker.log({{"broken", NAN}, {"peak", -INFINITY}, {"eval", {{"accuracy", 0.75}}}}, std::nullopt);
  if (how == "killed") _exit(1);
  tracker.finish();
}
