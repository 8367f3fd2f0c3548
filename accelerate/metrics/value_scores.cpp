#include "accelerate/metrics/value_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/metrics/pairwise_sum.h"

namespace accelerate::metrics {

namespace {

void append_values(std::vector<double>& values, const at::Tensor& tensor, std::string_view metric, const char* what) {
  if (tensor.is_complex()) fail(metric, ": ", what, " are complex numbers; it takes real ones");
  const auto plain = tensor.detach().to(at::kCPU, at::kDouble).flatten().contiguous();
  const auto* data = plain.const_data_ptr<double>();
  values.insert(values.end(), data, data + plain.numel());
}

double mean_value(const std::vector<double>& values) {
  return pairwise_sum(values) / static_cast<double>(values.size());
}

bool is_constant(const std::vector<double>& values) {
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

/// The deviations from the mean, as a vector of length 1.
std::vector<double> normalized(std::vector<double> values) {
  const double mean = mean_value(values);
  double largest = 0;
  for (auto& value : values) {
    value -= mean;
    // Not std::max, which would lose a NaN.
    if (!(std::abs(value) <= largest)) largest = std::abs(value);
  }
  // Scaled first, so that squares of large numbers stay finite.
  double squares = 0;
  for (const double value : values) squares += (value / largest) * (value / largest);
  const double norm = largest * std::sqrt(squares);
  for (auto& value : values) value /= norm;
  return values;
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  if (is_constant(x) || is_constant(y)) return NAN;
  const auto a = normalized(x), b = normalized(y);
  const double product = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  // With two samples there are but these two, and rounding.
  if (x.size() == 2) return std::isnan(product) ? NAN : std::copysign(1.0, product);
  return std::isnan(product) ? NAN : std::clamp(product, -1.0, 1.0);
}

/// The place of each value among all, from 1; equal ones have the mean of their places.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = 0.5 * static_cast<double>(begin + 1 + end);
    begin = end;
  }
  return ranks;
}

bool has_nan(const std::vector<double>& values) {
  return std::ranges::any_of(values, [](double value) { return std::isnan(value); });
}

template <class ErrorOf>
double mean_error(const ValuePairs& pairs, ErrorOf error_of) {
  std::vector<double> errors(pairs.predictions.size());
  for (size_t i = 0; i < errors.size(); ++i) errors[i] = error_of(pairs.references[i] - pairs.predictions[i]);
  return mean_value(errors);
}

}  // namespace

void ValuePairs::add(const at::Tensor& more_predictions, const at::Tensor& more_references, std::string_view metric) {
  append_values(predictions, more_predictions, metric, "predictions");
  append_values(references, more_references, metric, "references");
}

ValuePairs ValuePairs::gathered(const comm::Group& group) const {
  if (group.size() == 1) return *this;
  const auto num_values = static_cast<int64_t>(predictions.size());
  auto rows = at::empty({num_values, 2}, at::kDouble);
  auto* cell = rows.mutable_data_ptr<double>();
  for (int64_t i = 0; i < num_values; ++i) {
    *cell++ = predictions[i];
    *cell++ = references[i];
  }
  const auto all = group.all_gather(rows);
  ValuePairs together;
  const auto* row = all.const_data_ptr<double>();
  for (int64_t i = 0; i < all.size(0); ++i, row += 2) {
    together.predictions.push_back(row[0]);
    together.references.push_back(row[1]);
  }
  return together;
}

void add_pearson(const std::string& name, const ValuePairs& pairs, const ComputeOptions&, Scores& scores) {
  if (pairs.predictions.size() < 2) fail(name, ": there is one sample; a correlation needs two or more");
  scores.add(name, correlation(pairs.predictions, pairs.references));
}

void add_spearman(const std::string& name, const ValuePairs& pairs, const ComputeOptions&, Scores& scores) {
  const bool defined = pairs.predictions.size() > 1 && !has_nan(pairs.predictions) && !has_nan(pairs.references);
  scores.add(name, defined ? correlation(ranks_of(pairs.predictions), ranks_of(pairs.references)) : NAN);
}

void add_mse(const std::string& name, const ValuePairs& pairs, const ComputeOptions& options, Scores& scores) {
  const double mean = mean_error(pairs, [](double error) { return error * error; });
  scores.add(name, options.squared ? mean : std::sqrt(mean));
}

void add_mae(const std::string& name, const ValuePairs& pairs, const ComputeOptions&, Scores& scores) {
  scores.add(name, mean_error(pairs, [](double error) { return std::abs(error); }));
}

}  // namespace accelerate::metrics
