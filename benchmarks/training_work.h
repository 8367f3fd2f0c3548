#pragma once

// What the programs that train a checkpoint have in common: the model, and what it learns from in a step.

#include "benchmarks/side.h"
#include "transformers/transformers.h"

namespace bench {

/// What a rank learns from in a step, and how often. It learns to classify texts, or with --language_model to foretell
/// the next word.
struct TrainingWork {
  explicit TrainingWork(const Arguments& arguments)
      : checkpoint(arguments.text("--checkpoint", "")),
        language_model(arguments.has("--language_model")),
        rows(arguments.number("--rows", 8)),
        length(arguments.number("--length", 32)),
        words(arguments.number("--words", 20011)),
        first_word(language_model ? 0 : 1000),
        accumulate(arguments.number("--accumulate", 1)),
        warmup(arguments.number("--warmup", 3)),
        steps(arguments.number("--steps", 20)) {}

  std::string checkpoint;
  bool language_model;
  int64_t rows, length, words;
  int64_t first_word;  // of a classifier's: ids below are special or unused
  int64_t accumulate;  // batches that the optimizer's step waits for
  int64_t warmup, steps;
};

inline auto load_classifier(const std::string& checkpoint) {
  transformers::LoadReport report;
  return transformers::AutoModelForSequenceClassification::from_pretrained(checkpoint,
                                                                           {.num_labels = 2, .loading_info = &report});
}

inline auto load_language_model(const std::string& checkpoint) {
  return transformers::AutoModelForCausalLM::from_pretrained(checkpoint);
}

}  // namespace bench
