#pragma once

// What the text examples take from their command line, and how they print scores.

#include <cstdint>
#include <optional>
#include <string>

#include <ATen/core/Generator.h>
#include <torch/types.h>

#include "accelerate/metrics/scores.h"
#include "examples/support/run_arguments.h"

namespace examples {

/// One data set, and how it is cut into batches.
struct Split {
  std::string file;
  int64_t num_rows;
  int64_t batch_size;
  bool shuffle;
  torch::Generator generator = {};  // of the shuffle
};

/// The hyper-parameters of a fine-tuning.
struct TextArguments {
  std::string checkpoint = ".assets/minilm";
  Split train{".assets/demo/rotten_tomatoes_train.tsv", 2000, 8, /*shuffle=*/true};
  Split eval{".assets/demo/rotten_tomatoes_eval.tsv", 1000, 32, /*shuffle=*/false};
  int64_t num_labels = 2;
  int64_t num_epochs = 3;
  std::optional<int64_t> max_length = std::nullopt;  // not given: as many tokens as the model takes
  double learning_rate = 3e-5;
  double weight_decay = 1e-2;
  std::string scheduler = "linear";
  int64_t num_warmup_steps = 0;
  uint64_t seed = 42;
};

/// Reads the command line; ends the program after --help or a mistake, and when a file of the data is not there. Also
/// fills `checkpoints` and `tracking` if given.
TextArguments parse_text_arguments(int argc, char** argv, const std::string& description,
                                   CheckpointArguments* checkpoints = nullptr, TrackingArguments* tracking = nullptr);

/// Prints one line, on the main process: "epoch 1: {'accuracy': 0.787, 'f1': 0.7846309403437816}".
void print_scores(const std::string& when, const accelerate::metrics::Scores& scores);

}  // namespace examples
