// Logs a run to the MLflow server of MLFLOW_TRACKING_URI, for mlflow_server_test.py.

#include <cmath>
#include <iostream>

#include "accelerate/tracking/mlflow_tracker.h"

int main() {
  accelerate::tracking::MlflowTracker tracker("a project", {.run_name = "first", .tags = {{"team", "blue"}}});
  tracker.start();
  tracker.store_init_configuration({{"lr", 3e-5}, {"bias", true}, {"model", {{"layers", 12}}}});
  for (int step = 0; step < 1500; ++step) tracker.log({{"loss", 1.0 / (step + 1)}}, step);
  tracker.log({{"broken", NAN}, {"peak", INFINITY}, {"eval", {{"accuracy", 0.75}}}}, 1500);
  tracker.finish();
  std::cout << tracker.run_id() << std::endl;
}
