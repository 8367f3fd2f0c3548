#include "accelerate/metrics/metric.h"

#include <cmath>
#include <functional>
#include <sstream>

#include <doctest/doctest.h>

#include "accelerate/comm/operations.h"
#include "tests/support/failure_of.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace metrics = accelerate::metrics;
using namespace accelerate::tests;
using accelerate::comm::Group;
using doctest::Approx;
using doctest::Contains;
using metrics::Average;
using metrics::combine;
using metrics::load;

namespace {

doctest::String failure(const std::function<void()>& action) { return accelerate::tests::failure_of(action).c_str(); }

std::string text_of(const metrics::Scores& scores) {
  std::ostringstream text;
  text << scores;
  return text.str();
}

}  // namespace

TEST_CASE("batches add up to the scores of all samples, and compute() begins again") {
  auto metric = load("glue", "mrpc");
  metric.add_batch({.predictions = torch::tensor({1, 0, 1}), .references = torch::tensor({1, 1, 0})});
  metric.add_batch(std::pair(torch::tensor({1}), torch::tensor({1})));
  metric.add(0, 0);
  auto scores = metric.compute();
  CHECK(scores["accuracy"] == 0.6);
  CHECK(scores["f1"] == Approx(2 / 3.));
  CHECK(metric.compute({.predictions = torch::tensor({1}), .references = torch::tensor({1})})["accuracy"] == 1);
  CHECK(failure([&] { metric.compute(); }) == Contains("accuracy: compute() without samples"));
}

TEST_CASE("every element of a tensor is a sample, whatever the shape and the type of integer") {
  auto right = torch::tensor({{1, 0}, {1, 1}});
  for (auto type : {torch::kLong, torch::kInt, torch::kUInt8, torch::kBool}) {
    CHECK(load("accuracy").compute({torch::ones({2, 2}, type), right})["accuracy"] == 0.75);
  }
  CHECK(load("accuracy").compute({torch::tensor(3), torch::tensor(3)})["accuracy"] == 1);
}

TEST_CASE("scores are read by name and print as Python's dicts") {
  auto scores = combine({"accuracy", "recall"}).compute({torch::tensor({1, 0, 0}), torch::tensor({1, 0, 1})});
  CHECK(text_of(scores) == "{'accuracy': 0.6666666666666666, 'recall': 0.5}");
  CHECK(scores.size() == 2);
  CHECK(scores.contains("recall"));
  CHECK_FALSE(scores.contains("f1"));
  CHECK(failure([&] { scores["f1"]; }) == Contains("no score 'f1'; the metric returned accuracy, recall"));
  metrics::Scores edges;
  for (double value : std::vector<double>{1.0, 0.0, 1e16, 1e-5, NAN, -INFINITY}) edges.add("x", value);
  CHECK(text_of(edges) == "{'x': 1.0, 'x': 0.0, 'x': 1e+16, 'x': 1e-05, 'x': nan, 'x': -inf}");
}

TEST_CASE("a score for each class has the class in its name") {
  auto scores = load("f1").compute({torch::tensor({0, 2, 2}), torch::tensor({0, 2, 0})}, {.average = Average::None});
  CHECK(scores.size() == 2);
  CHECK(scores["f1_0"] == Approx(2 / 3.));
  CHECK(scores["f1_2"] == Approx(2 / 3.));
}

TEST_CASE("ranks with samples of their own get the scores of all samples, also where one has none") {
  for (int size : {2, 3}) {
    run_ranks(size, [](Group& group) {
      torch::manual_seed(1);
      auto predictions = torch::randint(0, 5, {40}), references = torch::randint(0, 5, {40});
      auto values = torch::randn({40}, torch::kDouble), noisy = values + torch::randn({40}, torch::kDouble);
      // Rank 1 has nothing, the others every second or third sample.
      auto mine = group.rank() == 1 ? torch::arange(0) : torch::arange(group.rank() / 2, 40, group.size() == 2 ? 1 : 2);
      auto check = [&](const std::string& name, const at::Tensor& x, const at::Tensor& y) {
        CAPTURE(name);
        const metrics::ComputeOptions options{.average = Average::Macro};
        auto together = load(name, {.group = group});
        together.add_batch({x.index({mine}), y.index({mine})});
        auto whole = load(name).compute({x, y}, options);
        CHECK(together.compute(options)[name] == Approx(whole[name]).epsilon(1e-14));
      };
      for (auto name : {"accuracy", "f1", "precision", "recall", "matthews_correlation"}) {
        check(name, predictions, references);
      }
      for (auto name : {"pearsonr", "spearmanr", "mse", "mae"}) check(name, noisy, values);
      check("perplexity", torch::randn({40, 7}), torch::arange(40) % 7);
    });
  }
}

TEST_CASE("samples are gathered like any nest of tensors") {
  run_ranks(2, [](Group& group) {
    metrics::Samples mine{torch::full({1}, group.rank()), torch::ones({1}, torch::kLong)};
    auto metric = load("accuracy");
    metric.add_batch(accelerate::comm::gather(mine, group));
    CHECK(metric.compute()["accuracy"] == 0.5);
  });
}

TEST_CASE("the perplexity of logits leaves ignored labels out, and that of losses is the exp of their mean") {
  auto logits = torch::log(torch::tensor({{0.5, 0.25, 0.25}, {0.1, 0.8, 0.1}, {0.2, 0.2, 0.6}})).reshape({1, 3, 3});
  auto metric = load("perplexity");
  metric.add_batch({logits.to(torch::kFloat), torch::tensor({{0, -100, 2}})});
  CHECK(metric.compute()["perplexity"] == Approx(std::exp(-(std::log(0.5) + std::log(0.6)) / 2)));
  metric.add_batch({.predictions = torch::tensor({1.0, 2.0})});
  metric.add_batch({.predictions = torch::tensor(6.0)});
  CHECK(metric.compute()["perplexity"] == Approx(std::exp(3.0)));
  metric.add_batch({logits, torch::full({1, 3}, -100)});
  CHECK(failure([&] { metric.compute(); }) == Contains("perplexity: compute() without samples"));
}

TEST_CASE("what does not fit is refused with the remedy") {
  auto refused = [](const char* name, const metrics::Samples& samples, const metrics::ComputeOptions& options = {}) {
    return failure([&] { load(name).compute(samples, options); });
  };
  auto labels = torch::tensor({0, 1, 2});
  CHECK(refused("f1", {labels, labels}) == Contains("f1: there are 3 classes, and average is Binary"));
  CHECK(refused("f1", {labels.slice(0, 1), labels.slice(0, 1)}, {.pos_label = 3}) ==
        Contains("pos_label is 3; the classes are 1 and 2"));
  CHECK(refused("accuracy", {torch::randn({3, 2}), labels}) == Contains("logits.argmax(-1)"));
  CHECK(refused("accuracy", {torch::randn({3}), labels}) == Contains("predictions are of type Float"));
  CHECK(failure([] { load("accuracy").add(0.5, 1); }) == Contains("predictions are of type Double"));
  CHECK(refused("accuracy", {labels, {}}) == Contains("references are not given"));
  CHECK(refused("pearsonr", {torch::ones({1}), torch::ones({1})}) == Contains("there is one sample"));
  CHECK(refused("recall", {labels, labels}, {.average = Average::Macro, .zero_division = 0.5}) ==
        Contains("zero_division is 0.5; it can be 0, 1 or NaN"));
  CHECK(refused("perplexity", {torch::randn({2, 3}), labels}) == Contains("logits must have one more dimension"));
  CHECK(failure([] { load("acuracy"); }) == Contains("did you mean 'accuracy'?"));
  CHECK(failure([] { load("glue"); }) == Contains("load(\"glue\", \"mrpc\")"));
  CHECK(failure([] { load("glue", "mrcp"); }) == Contains("did you mean 'mrpc'?"));
  CHECK(failure([] { load("f1", "mrpc"); }) == Contains("has no variant 'mrpc'"));
  CHECK(failure([] { combine({"f1", "f1"}); }) == Contains("'f1' is given twice"));
  CHECK(failure([] { combine({"f1", "perplexity"}); }) == Contains("cannot be combined"));
}
