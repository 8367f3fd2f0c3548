#pragma once

// The data and the network of the image examples: Fashion-MNIST, 70,000 grey pictures of clothes in ten classes, from
// Debian's package dataset-fashion-mnist.

#include <string>

#include <torch/torch.h>

#include "examples/support/run_arguments.h"

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

/// Reads the command line; ends the program after --help or a mistake. Also fills `checkpoints` and `tracking` if
/// given.
Arguments parse_arguments(int argc, char** argv, const std::string& description,
                          CheckpointArguments* checkpoints = nullptr, TrackingArguments* tracking = nullptr);

}  // namespace examples
