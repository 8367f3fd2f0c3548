#pragma once

// Metrics for an MLflow server, over its REST interface.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accelerate/tracking/http.h"
#include "accelerate/tracking/tracker.h"

namespace accelerate::tracking {

struct MlflowOptions {
  std::string tracking_uri = {};     // else MLFLOW_TRACKING_URI, else http://127.0.0.1:5000
  std::string experiment_name = {};  // else MLFLOW_EXPERIMENT_NAME, else the project's name
  std::string run_name = {};         // else MLflow invents one
  std::string run_id = {};           // else MLFLOW_RUN_ID; an existing run to go on with
  std::map<std::string, std::string> tags = {};
  std::chrono::milliseconds timeout = std::chrono::seconds(5);        // of one request
  std::chrono::milliseconds send_interval = std::chrono::seconds(1);  // metrics in between wait and go together
};

/// Keeps numbers as metrics of a run and the configuration as its parameters. MLFLOW_TRACKING_TOKEN, or
/// MLFLOW_TRACKING_USERNAME and _PASSWORD, prove who asks. Texts have no place among metrics: they are left out, with a
/// warning.
class MlflowTracker : public Tracker {
 public:
  MlflowTracker(const std::string& project_name, const MlflowOptions& options);

  std::string name() const override { return "mlflow"; }
  void start() override;
  void store_init_configuration(const Values& config) override;
  void log(const Values& values, std::optional<int64_t> step) override;
  void finish() override;

  /// The run on the server; empty before start().
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
  /// Throws Error for an answer that is not 200, naming `what` was sent.
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
