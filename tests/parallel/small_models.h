#pragma once

// Small models and the training step around Replicas, shared by the tests of this room.

#include <initializer_list>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "accelerate/parallel/replicas.h"
#include "tests/support/torch.h"

namespace accelerate::tests {

/// A chain of linear layers. `in_reverse` runs them last to first, so that gradients come in the order of registration.
struct Chain : torch::nn::Module {
  explicit Chain(std::vector<int64_t> widths, bool in_reverse = false) : in_reverse_(in_reverse) {
    for (size_t i = 0; i + 1 < widths.size(); ++i) {
      layers.push_back(register_module("layer" + std::to_string(i), torch::nn::Linear(widths[i], widths[i + 1])));
    }
  }

  torch::Tensor forward(torch::Tensor x) {
    for (size_t i = 0; i < layers.size(); ++i) x = torch::tanh(layers[in_reverse_ ? layers.size() - 1 - i : i](x));
    return x;
  }

  std::vector<torch::nn::Linear> layers;

 private:
  bool in_reverse_;
};

/// Two heads on one body; a loss may use either.
struct TwoHeads : torch::nn::Module {
  TwoHeads() {
    body = register_module("body", torch::nn::Linear(4, 4));
    left = register_module("left", torch::nn::Linear(4, 2));
    right = register_module("right", torch::nn::Linear(4, 2));
  }

  torch::Tensor forward(torch::Tensor x, bool use_left) { return (use_left ? left : right)(torch::tanh(body(x))); }

  torch::nn::Linear body{nullptr}, left{nullptr}, right{nullptr};
};

/// One weight w; the loss w * x has the gradient x.
struct Weight : torch::nn::Module {
  explicit Weight(double value = 0) { w = register_parameter("w", torch::full({1}, value)); }
  torch::Tensor forward(double x) { return (w * x).sum(); }
  torch::Tensor w;
};

inline std::shared_ptr<parallel::Replicas> replicate(const torch::nn::Module& module, const comm::Group& group,
                                                     parallel::DistributedDataParallelKwargs kwargs = {}) {
  return std::make_shared<parallel::Replicas>(parallel::parameters_of(module), parallel::buffers_of(module), group,
                                              kwargs);
}

/// A backward that averages gradients, with all models of the loop armed.
inline void synced_backward(const torch::Tensor& loss,
                            std::initializer_list<std::shared_ptr<parallel::Replicas>> models) {
  for (const auto& model : models) model->arm(loss);
  loss.backward();
  for (const auto& model : models) model->after_backward();
}

inline void zero_grad(torch::nn::Module& module) {
  for (auto& parameter : module.parameters()) parameter.mutable_grad().reset();
}

inline void copy_parameters(const torch::nn::Module& from, torch::nn::Module& to) {
  torch::NoGradGuard no_grad;
  auto source = from.parameters(), target = to.parameters();
  for (size_t i = 0; i < source.size(); ++i) target[i].copy_(source[i]);
}

inline void descend(torch::nn::Module& module, double lr) {
  torch::NoGradGuard no_grad;
  for (auto& parameter : module.parameters()) {
    if (parameter.grad().defined()) parameter.sub_(parameter.grad(), lr);
  }
}

/// The largest difference between two models' gradients; a gradient that only one has counts as infinitely far.
inline double gradient_distance(const torch::nn::Module& one, const torch::nn::Module& other) {
  double largest = 0;
  auto a = one.parameters(), b = other.parameters();
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].grad().defined() != b[i].grad().defined()) return INFINITY;
    if (a[i].grad().defined()) largest = std::max(largest, (a[i].grad() - b[i].grad()).abs().max().item<double>());
  }
  return largest;
}

/// Whether all ranks have the same values.
inline bool equal_on_all_ranks(const std::vector<torch::Tensor>& tensors, const comm::Group& group) {
  for (const auto& tensor : tensors) {
    auto rows = group.all_gather(tensor.detach().reshape({1, -1}));
    for (int rank = 1; rank < group.size(); ++rank) {
      if (!rows[rank].equal(rows[0])) return false;
    }
  }
  return true;
}

/// The rows of `rank` in a batch that is the same on all ranks.
inline torch::Tensor rows_of_rank(const torch::Tensor& batch, const comm::Group& group) {
  int64_t rows = batch.size(0) / group.size();
  return batch.narrow(0, rows * group.rank(), rows);
}

template <class Action>
doctest::String failure_of(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace accelerate::tests
