// The scores of metric_scores/make_reference.py, computed here.

#include <cmath>

#include <doctest/doctest.h>

#include "accelerate/accelerate.h"
#include "tests/parity/recorded.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

using metrics::Average;
using metrics::ComputeOptions;

constexpr double kCorrelationTolerance = 1e-13;  // sums of products, which BLAS adds up in the order of its vectors

metrics::Samples samples_of(const json& expected, at::ScalarType type) {
  auto tensor_of = [&](const char* key) {
    if (type == at::kLong) return torch::tensor(expected.at(key).get<std::vector<int64_t>>());
    return torch::tensor(expected.at(key).get<std::vector<double>>(), torch::kDouble);
  };
  return {tensor_of("predictions"), tensor_of("references")};
}

double number_of(const json& value) {
  if (value.is_null()) return NAN;
  return value == "inf" ? INFINITY : value.get<double>();
}

/// To the bit, or as near as `tolerance`.
bool same(double here, double there, double tolerance = 0) {
  if (std::isnan(here) || std::isnan(there)) return std::isnan(here) && std::isnan(there);
  if (here == there) return true;
  return std::abs(here - there) <= tolerance * std::max(1.0, std::abs(there));
}

ComputeOptions options_of(const json& options) {
  auto average = Average::None;
  if (!options.at("average").is_null()) {
    const auto name = options.at("average").get<std::string>();
    average = name == "binary"  ? Average::Binary
              : name == "micro" ? Average::Micro
              : name == "macro" ? Average::Macro
                                : Average::Weighted;
  }
  return {.average = average,
          .labels = options.at("labels").get<std::vector<int64_t>>(),
          .pos_label = options.at("pos_label").get<int64_t>(),
          .zero_division = number_of(options.at("zero_division"))};
}

void check_fraction(const std::string& name, const metrics::Samples& samples, const ComputeOptions& options,
                    const json& expected) {
  auto metric = metrics::load(name);
  if (expected == "error") {
    CHECK_THROWS_AS(metric.compute(samples, options), Error);
    return;
  }
  const auto scores = metric.compute(samples, options);
  const auto all = expected.is_array() ? expected : json::array({expected});
  REQUIRE(scores.size() == all.size());
  size_t i = 0;
  for (const auto& [score_name, value] : scores) {
    CAPTURE(score_name);
    CHECK_MESSAGE(same(value, number_of(all[i])), value, " here, ", all[i].dump(), " there");
    ++i;
  }
}

}  // namespace

TEST_CASE("scores of classes are scikit-learn's to the bit") {
  const auto reference = recorded("metric_scores");
  for (const auto& expected : reference.at("classes")) {
    CAPTURE(expected.at("name").get<std::string>());
    const auto samples = samples_of(expected, at::kLong);
    CHECK(metrics::load("accuracy").compute(samples)["accuracy"] == expected.at("accuracy"));
    CHECK(metrics::load("accuracy").compute(samples, {.normalize = false})["accuracy"] == expected.at("right"));
    CHECK(metrics::load("glue", "cola").compute(samples)["matthews_correlation"] ==
          expected.at("matthews_correlation"));
    for (const auto& fraction : expected.at("fractions")) {
      CAPTURE(fraction.at("options").dump());
      const auto options = options_of(fraction.at("options"));
      for (const auto& [name, score] : fraction.at("scores").items()) {
        CAPTURE(name);
        check_fraction(name, samples, options, score);
      }
    }
  }
}

TEST_CASE("scores of numbers are those of scipy and scikit-learn, also where there is none") {
  const auto reference = recorded("metric_scores");
  for (const auto& expected : reference.at("values")) {
    CAPTURE(expected.at("name").get<std::string>());
    const auto samples = samples_of(expected, at::kDouble);
    if (expected.at("pearsonr") == "error") {
      CHECK_THROWS_AS(metrics::load("pearsonr").compute(samples), Error);
    } else {
      const auto scores = metrics::load("glue", "stsb").compute(samples);
      CHECK(same(scores["pearson"], number_of(expected.at("pearsonr")), kCorrelationTolerance));
      CHECK(same(scores["spearmanr"], number_of(expected.at("spearmanr")), kCorrelationTolerance));
    }
    CHECK(metrics::load("mse").compute(samples)["mse"] == number_of(expected.at("mse")));
    CHECK(metrics::load("mse").compute(samples, {.squared = false})["mse"] == number_of(expected.at("rmse")));
    CHECK(metrics::load("mae").compute(samples)["mae"] == number_of(expected.at("mae")));
  }
}

}  // namespace accelerate::tests
