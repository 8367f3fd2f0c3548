#include "accelerate/tracking/make_trackers.h"

#include <doctest/doctest.h>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::tracking;

namespace {

struct OwnTracker : Tracker {
  std::string name() const override { return "own"; }
  void store_init_configuration(const Values&) override {}
  void log(const Values&, std::optional<int64_t>) override {}
};

std::vector<std::string> names_of(const std::vector<LogWith>& log_with) {
  std::vector<std::string> names;
  for (const auto& tracker : make_trackers(log_with, {.project_name = "project", .logging_dir = "runs"})) {
    names.push_back(tracker->name());
  }
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("log_with takes names, objects, both, and all") {
  PatchEnvironment patch{{"MLFLOW_TRACKING_URI", std::nullopt}, {"WANDB_MODE", std::nullopt}};
  CHECK(names_of({}) == Names{"jsonl"});
  CHECK(names_of({"tensorboard"}) == Names{"tensorboard"});
  CHECK(names_of({"csv", std::make_shared<OwnTracker>(), "mlflow", "wandb", "csv"}) ==
        Names{"csv", "own", "mlflow", "wandb"});
  CHECK(names_of({"all"}) == Names{"jsonl", "csv", "tensorboard"});
  PatchEnvironment server{{"MLFLOW_TRACKING_URI", "http://127.0.0.1:1"}};
  CHECK(names_of({"all", "csv"}) == Names{"jsonl", "csv", "tensorboard", "mlflow"});
  PatchEnvironment online{{"WANDB_MODE", "online"}};  // which is not for a program that did not ask for it
  CHECK(names_of({"all"}) == Names{"jsonl", "csv", "tensorboard", "mlflow"});
  PatchEnvironment mode{{"WANDB_MODE", "offline"}};
  CHECK(names_of({"all"}) == Names{"jsonl", "csv", "tensorboard", "mlflow", "wandb"});
}

TEST_CASE("mistakes in log_with are told with the remedy") {
  CHECK_THROWS_WITH_AS(names_of({"tensorbord"}), doctest::Contains("Did you mean 'tensorboard'?"), Error);
  CHECK_THROWS_WITH_AS(
      names_of({"paper"}),
      "log_with has 'paper', which is not a tracker; it can have jsonl, csv, tensorboard, wandb, mlflow, all, or an "
      "object",
      Error);
  CHECK_THROWS_WITH_AS(names_of({std::make_shared<OwnTracker>(), std::make_shared<OwnTracker>()}),
                       doctest::Contains("two trackers with the name 'own'"), Error);
  CHECK_THROWS_WITH_AS(names_of({std::shared_ptr<OwnTracker>()}), doctest::Contains("a null pointer"), Error);
  CHECK_THROWS_WITH_AS(make_trackers({"csv"}, {.project_name = "project"}), doctest::Contains("no logging_dir"), Error);
  for (const char* name : {"../elsewhere", "a/../../b", "/tmp/elsewhere"}) {
    CHECK_THROWS_WITH_AS(make_trackers({"csv"}, {.project_name = name, .logging_dir = "runs"}),
                         doctest::Contains("outside of logging_dir"), Error);
  }
  CHECK_THROWS_WITH_AS(make_trackers({"mlflow"}, {.mlflow = {.tracking_uri = "sqlite:///mlflow.db"}}),
                       doctest::Contains("it must be a server"), Error);
}

TEST_CASE("making trackers leaves no trace on disk") {
  tests::TemporaryDirectory directory;
  make_trackers({"jsonl", "csv", "tensorboard", "wandb"},
                {.project_name = "project", .logging_dir = directory.path(), .wandb = {.dir = directory.path()}});
  CHECK(std::filesystem::is_empty(directory.path()));
}
