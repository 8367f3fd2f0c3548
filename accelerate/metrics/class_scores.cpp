#include "accelerate/metrics/class_scores.h"

#include <cmath>
#include <map>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/base/text.h"
#include "accelerate/metrics/pairwise_sum.h"

namespace accelerate::metrics {

namespace {

using Counts = ConfusionMatrix::Counts;

struct Fraction {
  double numerator, denominator;
};

Fraction precision_of(const Counts& counts) { return {counts.true_positives, counts.predictions}; }
Fraction recall_of(const Counts& counts) { return {counts.true_positives, counts.references}; }
Fraction f1_of(const Counts& counts) { return {2 * counts.true_positives, counts.references + counts.predictions}; }

/// The classes that a score is about.
std::vector<int64_t> classes_for(const std::string& name, const std::map<int64_t, Counts>& by_class,
                                 const ComputeOptions& options) {
  std::vector<int64_t> present;
  for (const auto& [label, counts] : by_class) present.push_back(label);
  if (options.average != Average::Binary) return options.labels.empty() ? present : options.labels;
  if (present.size() > 2) {
    fail(name, ": there are ", present.size(),
         " classes, and average is Binary; choose Average::Micro, Macro, Weighted or None");
  }
  if (present.size() == 2 && !by_class.contains(options.pos_label)) {
    fail(name, ": pos_label is ", options.pos_label, "; the classes are ", listed(present, " and "));
  }
  return {options.pos_label};
}

double value_of(const Fraction& fraction, const ComputeOptions& options) {
  if (fraction.denominator != 0) return fraction.numerator / fraction.denominator;
  return options.zero_division.value_or(0);
}

/// The mean of the values that are not NaN. Without weights, or if all weights are 0, each counts the same.
double mean_of(const std::vector<double>& values, const std::vector<double>& weights) {
  std::vector<double> numbers, kept_weights, weighted;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    numbers.push_back(values[i]);
    if (weights.empty()) continue;
    kept_weights.push_back(weights[i]);
    weighted.push_back(values[i] * weights[i]);
  }
  if (numbers.empty()) return NAN;
  const double weight = weights.empty() ? 0 : pairwise_sum(kept_weights);
  if (weight != 0) return pairwise_sum(weighted) / weight;
  return pairwise_sum(numbers) / static_cast<double>(numbers.size());
}

void warn_of_zero_division(const std::string& name, const std::vector<int64_t>& classes) {
  get_logger("accelerate.metrics")
      .warning_once(name + " is 0/0 for class " + listed(classes) +
                    " and counts as 0; set zero_division to 0, 1 or NaN to choose its value without this warning");
}

template <class FractionOf>
void add_fractions(const std::string& name, const ConfusionMatrix& matrix, const ComputeOptions& options,
                   Scores& scores, FractionOf fraction_of) {
  auto by_class = matrix.by_class();
  const auto classes = classes_for(name, by_class, options);
  std::vector<double> values, weights;
  std::vector<int64_t> undefined;
  Counts sum;
  for (const auto label : classes) {
    const auto& counts = by_class[label];
    const auto fraction = fraction_of(counts);
    if (fraction.denominator == 0) undefined.push_back(label);
    values.push_back(value_of(fraction, options));
    weights.push_back(counts.references);
    sum.true_positives += counts.true_positives;
    sum.predictions += counts.predictions;
    sum.references += counts.references;
  }
  const bool micro = options.average == Average::Micro;
  if (micro && fraction_of(sum).denominator != 0) undefined.clear();
  if (!undefined.empty() && !options.zero_division) warn_of_zero_division(name, undefined);

  if (options.average == Average::None) {
    for (size_t i = 0; i < classes.size(); ++i) scores.add(name + "_" + std::to_string(classes[i]), values[i]);
  } else if (micro) {
    scores.add(name, value_of(fraction_of(sum), options));
  } else {
    scores.add(name, mean_of(values, options.average == Average::Weighted ? weights : std::vector<double>{}));
  }
}

}  // namespace

void add_accuracy(const std::string& name, const ConfusionMatrix& matrix, const ComputeOptions& options,
                  Scores& scores) {
  const auto num_correct = static_cast<double>(matrix.num_correct());
  scores.add(name, options.normalize ? num_correct / static_cast<double>(matrix.num_samples()) : num_correct);
}

void add_precision(const std::string& name, const ConfusionMatrix& matrix, const ComputeOptions& options,
                   Scores& scores) {
  add_fractions(name, matrix, options, scores, precision_of);
}

void add_recall(const std::string& name, const ConfusionMatrix& matrix, const ComputeOptions& options, Scores& scores) {
  add_fractions(name, matrix, options, scores, recall_of);
}

void add_f1(const std::string& name, const ConfusionMatrix& matrix, const ComputeOptions& options, Scores& scores) {
  add_fractions(name, matrix, options, scores, f1_of);
}

// Gorodkin, "Comparing two K-category assignments by a K-category correlation coefficient" (2004).
void add_matthews(const std::string& name, const ConfusionMatrix& matrix, const ComputeOptions&, Scores& scores) {
  const auto num_samples = static_cast<double>(matrix.num_samples());
  double both = static_cast<double>(matrix.num_correct()) * num_samples;
  double of_predictions = num_samples * num_samples, of_references = num_samples * num_samples;
  for (const auto& [label, counts] : matrix.by_class()) {
    both -= counts.references * counts.predictions;
    of_predictions -= counts.predictions * counts.predictions;
    of_references -= counts.references * counts.references;
  }
  const double product = of_predictions * of_references;
  scores.add(name, product == 0 ? 0 : both / std::sqrt(product));
}

}  // namespace accelerate::metrics
