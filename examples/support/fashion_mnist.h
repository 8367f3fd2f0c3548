#pragma once

// The data and the network of the image examples: Fashion-MNIST, 70,000 grey pictures of clothes in ten classes, from
// Debian's package dataset-fashion-mnist.

#include <string>

#include <torch/torch.h>

namespace examples {

struct Images {
  torch::Tensor pixels;  // [n, 1, 28, 28], uint8
  torch::Tensor labels;  // [n], int64
};

/// The first `num_samples` pictures of "train" (60,000) or "t10k" (10,000). Throws a std::runtime_error that names the
/// package to install when the files are not there.
Images read_fashion_mnist(const std::string& part, int64_t num_samples);

/// Two convolutions and two linear layers, 206,922 parameters.
struct ConvNetImpl : torch::nn::Module {
  ConvNetImpl();
  torch::Tensor forward(const torch::Tensor& pixels);

  torch::nn::Conv2d first{nullptr}, second{nullptr};
  torch::nn::Linear hidden{nullptr}, output{nullptr};
};
TORCH_MODULE(ConvNet);

/// What all image examples take from their command line.
struct Arguments {
  int64_t num_epochs = 2;
  int64_t batch_size = 64;
  int64_t num_samples = 60000;
  double learning_rate = 1e-3;
  uint64_t seed = 42;
};

/// What the examples of checkpoints take besides.
struct CheckpointArguments {
  std::string output_dir = ".";
  std::string checkpointing_steps = {};     // a number of steps, or "epoch"; empty: no checkpoints
  std::string resume_from_checkpoint = {};  // a directory; empty: start anew

  /// Whether a checkpoint is due after this many steps.
  bool is_due(int64_t step) const;
  bool is_due_after_epoch() const { return checkpointing_steps == "epoch"; }
};

/// Reads the command line; ends the program after --help or a mistake. Fills `checkpoints` where it is given.
Arguments parse_arguments(int argc, char** argv, const std::string& description,
                          CheckpointArguments* checkpoints = nullptr);

}  // namespace examples
