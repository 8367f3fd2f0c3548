#include "accelerate/metrics/metric.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"
#include "accelerate/metrics/class_scores.h"
#include "accelerate/metrics/confusion_matrix.h"
#include "accelerate/metrics/perplexity.h"
#include "accelerate/metrics/value_scores.h"

namespace accelerate::metrics {

namespace {

using AddClassScore = void (*)(const std::string&, const ConfusionMatrix&, const ComputeOptions&, Scores&);
using AddValueScore = void (*)(const std::string&, const ValuePairs&, const ComputeOptions&, Scores&);

struct AddPerplexity {};

/// A score by the name that it has in the results.
struct Definition {
  std::string name;
  std::variant<AddClassScore, AddValueScore, AddPerplexity> add;
};

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all{
      {"accuracy", &add_accuracy},
      {"f1", &add_f1},
      {"precision", &add_precision},
      {"recall", &add_recall},
      {"matthews_correlation", &add_matthews},
      {"pearsonr", &add_pearson},
      {"spearmanr", &add_spearman},
      {"mse", &add_mse},
      {"mae", &add_mae},
      {"perplexity", AddPerplexity()},
  };
  return all;
}

[[noreturn]] void fail_unknown(std::string_view what, std::string_view word, const std::vector<std::string>& names) {
  const auto nearest = nearest_name(word, names);
  fail(what, " '", word, "' is unknown; ",
       nearest.empty() ? "it can be " + listed(names, " or ") : "did you mean '" + nearest + "'?");
}

Definition definition_of(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& definition : definitions()) {
    if (definition.name == name) return definition;
    names.push_back(definition.name);
  }
  if (name == "glue") fail("the metric 'glue' takes the name of a task: load(\"glue\", \"mrpc\")");
  fail_unknown("the metric", name, names);
}

std::vector<Definition> definitions_of_glue(std::string_view task) {
  const std::vector<std::string> with_accuracy{"sst2", "mnli", "mnli_mismatched", "mnli_matched", "qnli", "rte",
                                               "wnli", "hans"};
  if (std::ranges::count(with_accuracy, task)) return {definition_of("accuracy")};
  if (task == "mrpc" || task == "qqp") return {definition_of("accuracy"), definition_of("f1")};
  if (task == "cola") return {definition_of("matthews_correlation")};
  if (task == "stsb") return {{"pearson", &add_pearson}, definition_of("spearmanr")};
  auto tasks = with_accuracy;
  tasks.insert(tasks.end(), {"mrpc", "qqp", "cola", "stsb"});
  fail_unknown("the task of glue", task, tasks);
}

void check_shapes(const Samples& samples, const std::string& name) {
  const auto& [predictions, references] = samples;
  if (!predictions.defined() || !references.defined()) {
    fail(name, ": ", predictions.defined() ? "references" : "predictions", " are not given; a batch has both");
  }
  if (predictions.sizes() == references.sizes()) return;
  const bool logits = predictions.dim() == references.dim() + 1;
  fail(name, ": predictions have shape ", predictions.sizes(), " and references ", references.sizes(),
       logits ? "; they must have the same shape. Convert logits to classes first: logits.argmax(-1)"
              : "; they must have the same shape");
}

template <class Kind>
bool has(const std::vector<Definition>& definitions) {
  return std::ranges::any_of(definitions, [](const auto& one) { return std::holds_alternative<Kind>(one.add); });
}

}  // namespace

struct Metric::State {
  State(std::vector<Definition> scores, comm::Group ranks) : definitions(std::move(scores)), group(std::move(ranks)) {}

  std::vector<Definition> definitions;
  comm::Group group;
  // Scores of the same kind share one of these.
  ConfusionMatrix classes = {};
  ValuePairs values = {};
  TokenLosses tokens = {};
};

Metric::Metric(std::unique_ptr<State> state) : state_(std::move(state)) {}
Metric::Metric(Metric&&) noexcept = default;
Metric& Metric::operator=(Metric&&) noexcept = default;
Metric::~Metric() = default;

void Metric::add_batch(const Samples& samples) {
  const auto& definitions = state_->definitions;
  const auto& name = definitions.front().name;
  if (has<AddPerplexity>(definitions)) {
    if (!samples.predictions.defined()) fail(name, ": predictions are not given; they must be logits, or only losses");
    state_->tokens.add(samples.predictions, samples.references);
    return;
  }
  check_shapes(samples, name);
  // Classification metrics first: they throw for non-integers before anything is counted.
  if (has<AddClassScore>(definitions)) state_->classes.add(samples.predictions, samples.references, name);
  if (has<AddValueScore>(definitions)) state_->values.add(samples.predictions, samples.references, name);
}

void Metric::add(double prediction, double reference) {
  if (has<AddPerplexity>(state_->definitions)) fail("perplexity: it takes logits and labels; use add_batch()");
  // A non-integer is not rounded, so that classification metrics reject it.
  auto tensor_of = [&](double value) {
    const bool is_class = has<AddClassScore>(state_->definitions) && std::trunc(value) == value;
    return at::full({1}, value, is_class ? at::kLong : at::kDouble);
  };
  add_batch(Samples{tensor_of(prediction), tensor_of(reference)});
}

Scores Metric::compute(const ComputeOptions& options) {
  if (options.zero_division && *options.zero_division != 0 && *options.zero_division != 1 &&
      !std::isnan(*options.zero_division)) {
    fail("zero_division is ", *options.zero_division, "; it can be 0, 1 or NaN");
  }
  const auto& group = state_->group;
  const auto& definitions = state_->definitions;
  const auto classes = has<AddClassScore>(definitions) ? state_->classes.gathered(group) : ConfusionMatrix();
  const auto values = has<AddValueScore>(definitions) ? state_->values.gathered(group) : ValuePairs();
  const auto tokens = has<AddPerplexity>(definitions) ? state_->tokens.gathered(group) : TokenLosses();
  state_->classes = {};
  state_->values = {};
  state_->tokens = {};
  if (classes.num_samples() == 0 && values.predictions.empty() && tokens.count() == 0) {
    fail(definitions.front().name, ": compute() without samples; call add_batch() first");
  }
  Scores scores;
  for (const auto& [name, add] : definitions) {
    if (const auto* of_classes = std::get_if<AddClassScore>(&add)) {
      (*of_classes)(name, classes, options, scores);
    } else if (const auto* of_values = std::get_if<AddValueScore>(&add)) {
      (*of_values)(name, values, options, scores);
    } else {
      scores.add(name, tokens.perplexity());
    }
  }
  return scores;
}

Scores Metric::compute(const Samples& samples, const ComputeOptions& options) {
  add_batch(samples);
  return compute(options);
}

Metric load(std::string_view name, const LoadOptions& options) {
  return Metric(std::make_unique<Metric::State>(std::vector<Definition>{definition_of(name)}, options.group));
}

Metric load(std::string_view name, std::string_view config_name, const LoadOptions& options) {
  if (name != "glue") fail("load: the metric '", name, "' has no variant '", config_name, "'; 'glue' has");
  return Metric(std::make_unique<Metric::State>(definitions_of_glue(config_name), options.group));
}

Metric combine(const std::vector<std::string>& names, const LoadOptions& options) {
  if (names.empty()) fail("combine: no metric is given");
  std::vector<Definition> definitions;
  for (const auto& name : names) {
    if (std::ranges::count(names, name) > 1) fail("combine: '", name, "' is given twice");
    definitions.push_back(definition_of(name));
  }
  if (has<AddPerplexity>(definitions) && definitions.size() > 1) {
    fail("combine: perplexity takes logits, so it cannot be combined with ", listed(names));
  }
  return Metric(std::make_unique<Metric::State>(std::move(definitions), options.group));
}

}  // namespace accelerate::metrics
