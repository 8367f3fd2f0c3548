#include "accelerate/tracking/mlflow_tracker.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/loopback_port.h"
#include "accelerate/tracking/trackers.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::tracking;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

/// A server on this machine that answers like MLflow's.
class Stub {
 public:
  /// The first `num_refused` batches of metrics are answered with `status`.
  explicit Stub(int num_refused = 0, int status = 500)
      : program_({"python3", ACCELERATE_SOURCE_DIR "/tests/tracking/mlflow_stub.py",
                  (directory_.path() / "requests.jsonl").string(), std::to_string(num_refused),
                  std::to_string(status)}) {
    REQUIRE_MESSAGE(program_.writes("ready"), program_.errors());
    std::istringstream words(program_.output());
    std::string port;
    words >> port >> port;
    uri_ = "http://127.0.0.1:" + port;
  }

  const std::string& uri() const { return uri_; }

  std::vector<json> requests() const {
    std::vector<json> list;
    std::istringstream text(directory_.read("requests.jsonl"));
    for (std::string line; std::getline(text, line);) list.push_back(json::parse(line));
    return list;
  }

  std::vector<json> bodies(const std::string& path) const {
    std::vector<json> list;
    for (const auto& request : requests()) {
      if (request["path"] == path) list.push_back(request["body"]);
    }
    return list;
  }

 private:
  tests::TemporaryDirectory directory_;
  tests::Program program_;
  std::string uri_;
};

}  // namespace

TEST_CASE("a run on an MLflow server has its experiment, parameters, metrics and end") {
  Stub server;
  MlflowTracker tracker("a project/1", {.tracking_uri = server.uri() + "/",
                                        .run_name = "first",
                                        .tags = {{"team", "blue"}},
                                        .send_interval = milliseconds(0)});
  tracker.start();
  CHECK(tracker.run_id() == "run-1");
  tracker.store_init_configuration({{"lr", 0.1}, {"bias", true}, {"model", {{"layers", 12}}}});
  tracker.log({{"loss", 0.5}, {"eval", {{"accuracy", 1}}}}, 3);
  tracker.log({{"loss", NAN}, {"peak", -INFINITY}}, std::nullopt);
  tracker.finish();

  auto requests = server.requests();
  REQUIRE(requests.size() == 7);
  CHECK(requests[0]["path"] == "experiments/get-by-name?experiment_name=a%20project%2F1");
  CHECK(requests[1]["body"] == json{{"name", "a project/1"}});
  CHECK(requests[2]["body"]["experiment_id"] == "7");
  CHECK(requests[2]["body"]["run_name"] == "first");
  CHECK(requests[2]["body"]["tags"] == json{{{"key", "team"}, {"value", "blue"}}});
  CHECK(requests[3]["body"]["params"] == json{{{"key", "lr"}, {"value", "0.1"}},
                                              {{"key", "bias"}, {"value", "True"}},
                                              {{"key", "model/layers"}, {"value", "12"}}});
  auto metrics = requests[4]["body"]["metrics"];
  CHECK(metrics[0]["key"] == "loss");
  CHECK(metrics[0]["value"] == 0.5);
  CHECK(metrics[0]["step"] == 3);
  CHECK(metrics[1]["key"] == "eval/accuracy");
  CHECK(requests[5]["body"]["metrics"][0]["value"] == "NaN");
  CHECK(requests[5]["body"]["metrics"][1]["value"] == "-Infinity");
  CHECK(requests[6]["path"] == "runs/update");
  CHECK(requests[6]["body"]["status"] == "FINISHED");
}

TEST_CASE("metrics of one interval go together, in batches that the server takes") {
  Stub server;
  MlflowTracker tracker("project", {.tracking_uri = server.uri(), .send_interval = std::chrono::minutes(10)});
  tracker.start();
  for (int step = 0; step < 2300; ++step) tracker.log({{"loss", 1.0 / (step + 1)}}, step);
  CHECK(server.bodies("runs/log-batch").size() == 1);
  tracker.finish();
  std::vector<int> steps;
  for (const auto& body : server.bodies("runs/log-batch")) {
    CHECK(body["metrics"].size() <= 1000);
    for (const auto& metric : body["metrics"]) steps.push_back(metric["step"]);
  }
  REQUIRE(steps.size() == 2300);
  for (int step = 0; step < 2300; ++step) CHECK(steps[step] == step);
}

TEST_CASE("metrics that the server refused are sent again") {
  Stub server(/*num_refused=*/1);
  MlflowTracker tracker("project", {.tracking_uri = server.uri(), .send_interval = milliseconds(0)});
  tracker.start();
  CHECK_THROWS_WITH_AS(tracker.log({{"loss", 1}}, 0), doctest::Contains("runs/log-batch answered 500"), Error);
  tracker.log({{"loss", 2}}, 1);
  CHECK(server.bodies("runs/log-batch").back()["metrics"].size() == 2);
}

TEST_CASE("metrics that the server will never take are named, and do not stand in the way of others") {
  Stub server(/*num_refused=*/1, /*status=*/400);
  MlflowTracker tracker("project", {.tracking_uri = server.uri(), .send_interval = milliseconds(0)});
  tracker.start();
  CHECK_THROWS_WITH_AS(tracker.log({{"loss@1", 1}}, 0), doctest::Contains("answered 400 to the metrics loss@1"), Error);
  tracker.log({{"not \xff UTF-8", 2}}, 1);
  const auto metrics = server.bodies("runs/log-batch").back()["metrics"];
  REQUIRE(metrics.size() == 1);
  CHECK(metrics[0]["key"] == "not \xEF\xBF\xBD UTF-8");
}

TEST_CASE("settings that a run has with other values are named, and the others are kept") {
  Stub server(/*num_refused=*/2, /*status=*/400);  // both together, then the first
  MlflowTracker tracker("project", {.tracking_uri = server.uri(), .send_interval = milliseconds(0)});
  tracker.start();
  auto said = tests::captured_stderr([&] { tracker.store_init_configuration({{"lr", 0.1}, {"layers", 12}}); });
  CHECK_MESSAGE(said.find("run run-1 rejected these settings") != std::string::npos, said);
  CHECK_MESSAGE(said.find("there: lr") != std::string::npos, said);
  const auto batches = server.bodies("runs/log-batch");
  REQUIRE(batches.size() == 3);
  CHECK(batches[2]["params"] == json{{{"key", "layers"}, {"value", "12"}}});
  tracker.log({{"loss", 1}}, 0);
}

TEST_CASE("a run named in the environment goes on, and the environment says who asks") {
  Stub server;
  PatchEnvironment patch{{"MLFLOW_TRACKING_URI", server.uri()},
                         {"MLFLOW_RUN_ID", "run-9"},
                         {"MLFLOW_TRACKING_USERNAME", "ann"},
                         {"MLFLOW_TRACKING_PASSWORD", "secret"}};
  MlflowTracker tracker("project", {});
  tracker.start();
  CHECK(tracker.run_id() == "run-9");
  auto requests = server.requests();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0]["body"] == json{{"run_id", "run-9"}, {"status", "RUNNING"}});
  CHECK(requests[0]["authorization"] == "Basic YW5uOnNlY3JldA==");
}

TEST_CASE("a server that does not answer costs a warning and a bounded wait") {
  LoopbackPort silent;  // takes connections and never says a word
  silent.listen();
  auto begin = std::chrono::steady_clock::now();
  auto said = tests::captured_stderr([&] {
    GuardedTracker tracker(std::make_shared<MlflowTracker>(
        "project", MlflowOptions{.tracking_uri = "http://127.0.0.1:" + std::to_string(silent.number()),
                                 .timeout = milliseconds(200)}));
    tracker.store_init_configuration({{"lr", 0.1}});
    for (int step = 0; step < 1000; ++step) tracker.log({{"loss", 1}}, step);
  });
  CHECK(said.find("the tracker 'mlflow' failed: http://127.0.0.1:") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("libcurl is loaded by the first request, and missed with a remedy") {
  Stub server;
  tests::TemporaryDirectory directory;
  directory.write("libcurl.so.4", "no library");
  const std::string libraries = directory.path();
  tests::Program program({MLFLOW_RUN}, {{"MLFLOW_TRACKING_URI", server.uri()}, {"LD_LIBRARY_PATH", libraries}});
  CHECK(program.wait() != 0);
  CHECK_MESSAGE(
      program.errors().find("web requests need libcurl, which cannot be loaded (" + libraries) != std::string::npos,
      program.errors());
  CHECK_MESSAGE(program.errors().find("install libcurl4") != std::string::npos, program.errors());
}
