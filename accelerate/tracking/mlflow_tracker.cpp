#include "accelerate/tracking/mlflow_tracker.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/base/text.h"
#include "accelerate/base/utf8.h"
#include "accelerate/tracking/http.h"
#include "accelerate/tracking/settings.h"
#include "accelerate/tracking/value.h"

namespace accelerate::tracking {

namespace {

using nlohmann::json;

// The server's limits per request.
constexpr size_t kMaxMetrics = 1000;
constexpr size_t kMaxParams = 100;
constexpr size_t kMaxParamLength = 6000;
// The queue's limit while the server does not answer. The oldest metrics are dropped first.
constexpr size_t kMaxWaiting = 100'000;

constexpr const char* kApi = "/api/2.0/mlflow/";

/// Percent-encodes text for a URL: all but letters, digits and -._~.
std::string url_escape(const std::string& text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string escaped;
  for (unsigned char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                 c == '_' || c == '~';
    if (plain) {
      escaped += static_cast<char>(c);
    } else {
      escaped += {'%', kHex[c >> 4], kHex[c & 15]};
    }
  }
  return escaped;
}

int64_t now_in_milliseconds() { return static_cast<int64_t>(wall_time() * 1000); }

/// JSON cannot represent these values; the server accepts the texts.
json metric_value(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

/// Replaces invalid UTF-8, which may occur in names.
std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

MlflowTracker::MlflowTracker(const std::string& project_name, const MlflowOptions& options) : options_(options) {
  auto token = setting("", "MLFLOW_TRACKING_TOKEN");
  auto user = setting("", "MLFLOW_TRACKING_USERNAME");
  if (!token.empty()) {
    headers_.push_back("Authorization: Bearer " + token);
  } else if (!user.empty()) {
    user_and_password_ = user + ":" + setting("", "MLFLOW_TRACKING_PASSWORD");
  }
  options_.tracking_uri = setting(options.tracking_uri, "MLFLOW_TRACKING_URI", "http://127.0.0.1:5000");
  options_.experiment_name = setting(options.experiment_name, "MLFLOW_EXPERIMENT_NAME", project_name);
  options_.run_id = setting(options.run_id, "MLFLOW_RUN_ID");
  while (options_.tracking_uri.ends_with('/')) options_.tracking_uri.pop_back();
  if (!options_.tracking_uri.starts_with("http://") && !options_.tracking_uri.starts_with("https://")) {
    fail("mlflow: the tracking URI is '", options_.tracking_uri,
         "'; it must be a server (http:// or https://). `mlflow server` starts one for a local store");
  }
}

HttpResponse MlflowTracker::send_to_server(const std::string& path, const std::string& body) const {
  return send({.url = options_.tracking_uri + kApi + path,
               .body = body,
               .headers = headers_,
               .user_and_password = user_and_password_,
               .timeout = options_.timeout});
}

void MlflowTracker::check(const HttpResponse& response, const std::string& path, const std::string& what) const {
  if (response.status == 200) return;
  fail(options_.tracking_uri, kApi, path, " answered ", response.status, what, ": ",
       first_utf8_bytes(response.body, 300));
}

std::string MlflowTracker::request(const std::string& path, const std::string& body) const {
  auto response = send_to_server(path, body);
  check(response, path);
  return response.body;
}

std::string MlflowTracker::find_or_create_experiment() const {
  auto found = send_to_server("experiments/get-by-name?experiment_name=" + url_escape(options_.experiment_name), "");
  if (found.status == 200) return json::parse(found.body).at("experiment").at("experiment_id");
  auto created = request("experiments/create", text_of(json{{"name", options_.experiment_name}}));
  return json::parse(created).at("experiment_id");
}

void MlflowTracker::start() {
  if (!options_.run_id.empty()) {
    request("runs/update", text_of(json{{"run_id", options_.run_id}, {"status", "RUNNING"}}));
    run_id_ = options_.run_id;
    return;
  }
  json run = {{"experiment_id", find_or_create_experiment()}, {"start_time", now_in_milliseconds()}};
  if (!options_.run_name.empty()) run["run_name"] = options_.run_name;
  for (const auto& [key, value] : options_.tags) run["tags"].push_back({{"key", key}, {"value", value}});
  run_id_ = json::parse(request("runs/create", text_of(run))).at("run").at("info").at("run_id");
}

void MlflowTracker::store_init_configuration(const Values& config) {
  Params params;
  std::vector<std::string> refused;
  for (const auto& [name, value] : flatten(config)) {
    params.emplace_back(name, first_utf8_bytes(to_text(value), kMaxParamLength));
    if (params.size() == kMaxParams) send_params(std::exchange(params, {}), refused);
  }
  send_params(params, refused);
  if (refused.empty()) return;
  get_logger("accelerate.tracking")
      .warning(
          "mlflow: run " + run_id_ + " rejected these settings, which may have other values there: " + listed(refused),
          {.main_process_only = false});
}

/// Sends parameters in one batch or, if the server refuses it, one by one. Adds the names of refused ones to `refused`.
void MlflowTracker::send_params(const Params& params, std::vector<std::string>& refused) const {
  if (params.empty()) return;
  auto list = json::array();
  for (const auto& [name, value] : params) list.push_back({{"key", name}, {"value", value}});
  const auto response = send_to_server("runs/log-batch", text_of(json{{"run_id", run_id_}, {"params", list}}));
  constexpr int kBadRequest = 400;
  if (response.status != kBadRequest) return check(response, "runs/log-batch");
  if (params.size() == 1) return refused.push_back(params.front().first);
  for (const auto& param : params) send_params({param}, refused);
}

void MlflowTracker::log(const Values& values, std::optional<int64_t> step) {
  for (const auto& [name, value] : flatten(values)) {
    auto number = number_of(value);
    if (number) {
      waiting_.push_back({name, *number, now_in_milliseconds(), step.value_or(0)});
    } else {
      get_logger("accelerate.tracking")
          .warning_once("mlflow keeps numbers; '" + name + "' is a string and is omitted there",
                        {.main_process_only = false});
    }
  }
  if (std::chrono::steady_clock::now() - options_.send_interval >= last_sent_) send_metrics();
}

void MlflowTracker::send_metrics() {
  if (waiting_.size() > kMaxWaiting) waiting_.erase(waiting_.begin(), waiting_.end() - kMaxWaiting);
  while (!waiting_.empty()) {
    auto end = waiting_.begin() + std::min(waiting_.size(), kMaxMetrics);
    auto metrics = json::array();
    for (auto metric = waiting_.begin(); metric != end; ++metric) {
      metrics.push_back({{"key", metric->key},
                         {"value", metric_value(metric->value)},
                         {"timestamp", metric->timestamp},
                         {"step", metric->step}});
    }
    const auto response = send_to_server("runs/log-batch", text_of(json{{"run_id", run_id_}, {"metrics", metrics}}));
    const bool is_refused = response.status >= 400 && response.status < 500 && response.status != 429;
    std::set<std::string> names;
    for (auto metric = waiting_.begin(); is_refused && metric != end; ++metric) names.insert(metric->key);
    // The server would refuse these again, and they would block everything behind them.
    if (response.status == 200 || is_refused) waiting_.erase(waiting_.begin(), end);
    check(response, "runs/log-batch", is_refused ? " to the metrics " + listed(names) : "");
  }
  last_sent_ = std::chrono::steady_clock::now();
}

void MlflowTracker::finish() {
  send_metrics();
  request("runs/update",
          text_of(json{{"run_id", run_id_}, {"status", "FINISHED"}, {"end_time", now_in_milliseconds()}}));
}

}  // namespace accelerate::tracking
