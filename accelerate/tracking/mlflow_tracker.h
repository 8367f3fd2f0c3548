#pragma once

// A tracker that sends metrics to an MLflow server through its REST API.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accelerate/tracking/http.h"
#include "accelerate/tracking/tracker.h"
#include "accelerate/tracking/tracker_options.h"

namespace accelerate::tracking {

/// Logs numbers as metrics of a run and the configuration as its parameters. Authenticates with MLFLOW_TRACKING_TOKEN,
/// or MLFLOW_TRACKING_USERNAME and _PASSWORD. MLflow has no text metrics: texts are dropped with a warning.
class MlflowTracker : public Tracker {
 public:
  MlflowTracker(const std::string& project_name, const MlflowOptions& options);

  std::string name() const override { return "mlflow"; }
  void start() override;
  void store_init_configuration(const Values& config) override;
  void log(const Values& values, std::optional<int64_t> step) override;
  void finish() override;

  /// The id of the run on the server. Empty before start().
  const std::string& run_id() const { return run_id_; }

 private:
  struct Metric {
    std::string key;
    double value;
    int64_t timestamp;
    int64_t step;
  };
  using Params = std::vector<std::pair<std::string, std::string>>;

  HttpResponse send_to_server(const std::string& path, const std::string& body) const;
  /// Throws Error unless the status is 200. The message names `what` was sent.
  void check(const HttpResponse& response, const std::string& path, const std::string& what = "") const;
  std::string request(const std::string& path, const std::string& body) const;
  std::string find_or_create_experiment() const;
  void send_params(const Params& params, std::vector<std::string>& refused) const;
  void send_metrics();

  MlflowOptions options_;
  std::vector<std::string> headers_;
  std::string user_and_password_;
  std::string run_id_;
  std::vector<Metric> waiting_;
  std::chrono::steady_clock::time_point last_sent_ = std::chrono::steady_clock::time_point::min();
};

}  // namespace accelerate::tracking
