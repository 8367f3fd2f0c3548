#pragma once

// The metrics of Python's `evaluate`: load one by name, add batches of predictions and references, compute.
//
//   auto metric = accelerate::metrics::load("glue", "mrpc");
//   for (auto& batch : eval) {
//     auto predictions = model(batch).logits.argmax(-1);
//     metric.add_batch(accelerator.gather_for_metrics(std::pair(predictions, batch.at("labels"))));
//   }
//   accelerator.print(metric.compute());  // {'accuracy': 0.8627450980392157, 'f1': 0.9037800687285223}

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/metrics/scores.h"

namespace accelerate::metrics {

/// Predictions and references: two tensors of the same shape. Every element is one sample.
struct Samples {
  at::Tensor predictions;
  at::Tensor references = {};
};

/// Lets gather_for_metrics() and the other collectives take Samples.
inline auto tensor_fields(Samples& samples) { return std::tie(samples.predictions, samples.references); }

/// How f1, precision and recall of several classes are averaged.
enum class Average {
  Binary,    // of the class `pos_label`; there are two classes
  Micro,     // over all samples together
  Macro,     // the mean over the classes
  Weighted,  // the mean over the classes, by their number of references
  None,      // no mean: one score for each class, f1_0, f1_1, ...
};

/// The options of Python's compute(). A metric ignores those that it does not have.
struct ComputeOptions {
  Average average = Average::Binary;
  std::vector<int64_t> labels = {};                    // the classes of the average; empty: all that occur
  int64_t pos_label = 1;                               // the class of Average::Binary
  std::optional<double> zero_division = std::nullopt;  // 0, 1 or NaN for 0/0; unset: 0, with a warning
  bool normalize = true;                               // accuracy: the fraction of correct samples; else their number
  bool squared = true;                                 // mse; else its square root
};

/// The options of load() and combine().
struct LoadOptions {
  /// Unset: compute() uses the samples that this rank added; use it with gather_for_metrics(). Set to
  /// `accelerator.group()`: each rank adds its own samples, and compute() uses those of all ranks and is collective.
  comm::Group group = {};
};

/// One metric, or several metrics of the same samples. Created by load() and combine().
class Metric {
 public:
  Metric(Metric&&) noexcept;
  Metric& operator=(Metric&&) noexcept;
  ~Metric();

  /// Adds samples, on any device. Throws Error if shapes differ, or if a classification metric gets values that are not
  /// integers.
  void add_batch(const Samples& samples);

  /// The same for a pair of predictions and references, as gather_for_metrics() returns it.
  template <std::same_as<std::pair<at::Tensor, at::Tensor>> Pair>
  void add_batch(const Pair& predictions_and_references) {
    add_batch(Samples{predictions_and_references.first, predictions_and_references.second});
  }

  /// One sample.
  void add(double prediction, double reference);

  /// The scores of the samples added since the last compute(). Throws Error if there are none. Collective if
  /// LoadOptions has a group.
  Scores compute(const ComputeOptions& options = {});

  /// The scores of these samples, and of those added before.
  Scores compute(const Samples& samples, const ComputeOptions& options = {});

 private:
  friend Metric load(std::string_view name, const LoadOptions& options);
  friend Metric load(std::string_view name, std::string_view config_name, const LoadOptions& options);
  friend Metric combine(const std::vector<std::string>& names, const LoadOptions& options);

  struct State;
  explicit Metric(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// accuracy, f1, precision, recall, matthews_correlation, pearsonr, spearmanr, mse, mae or perplexity. perplexity takes
/// logits [..., vocabulary] and labels [...], and ignores labels of -100; or it takes only losses, the mean loss of
/// each sample. Throws Error for another name.
Metric load(std::string_view name, const LoadOptions& options = {});

/// The metrics of a task: load("glue", "mrpc"). sst2, mnli, mnli_mismatched, mnli_matched, qnli, rte, wnli and hans
/// have accuracy; mrpc and qqp accuracy and f1; cola matthews_correlation; stsb pearson and spearmanr.
Metric load(std::string_view name, std::string_view config_name, const LoadOptions& options = {});

/// Several metrics of the same samples: combine({"accuracy", "f1", "precision", "recall"}).
Metric combine(const std::vector<std::string>& names, const LoadOptions& options = {});

}  // namespace accelerate::metrics
