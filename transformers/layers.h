#pragma once

// The layers of models. Constructors allocate parameters without initialising them: weights come from a checkpoint, and
// only missing ones are initialised. So building a model is fast and leaves the random state unchanged.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace transformers {

/// A module that can initialise its own parameters.
class Layer : public torch::nn::Module {
 public:
  /// Initialises one parameter. Weights are drawn from a normal distribution with the standard deviation `range`.
  virtual void initialize(const std::string& parameter, double range);

  /// Draws as many random numbers as the constructor of Python's layer, so that later draws are the same as in Python.
  /// The values are overwritten later. By default it draws each element of each parameter from a uniform distribution.
  virtual void draw_once();
};

/// A linear layer, x Wᵀ + b.
class LinearImpl : public Layer {
 public:
  LinearImpl(int64_t inputs, int64_t outputs, bool with_bias);
  at::Tensor forward(const at::Tensor& x) const;

  at::Tensor weight, bias;  // [outputs, inputs], [outputs] or undefined
};
/// Shared ownership of a LinearImpl, as for torch's own modules.
TORCH_MODULE(Linear);

/// The linear layer of GPT-2. Its weight is stored transposed.
class Conv1DImpl : public Layer {
 public:
  Conv1DImpl(int64_t inputs, int64_t outputs);
  at::Tensor forward(const at::Tensor& x) const;
  void draw_once() override;

  at::Tensor weight, bias;  // [inputs, outputs], [outputs]
};
/// Shared ownership of a Conv1DImpl.
TORCH_MODULE(Conv1D);

/// An embedding table with a row for each id. The row `padding_index` gets no gradient and is initialised with 0. A
/// negative `padding_index` counts from the end.
class EmbeddingImpl : public Layer {
 public:
  EmbeddingImpl(int64_t count, int64_t size, std::optional<int64_t> padding_index);
  at::Tensor forward(const at::Tensor& ids) const;
  void initialize(const std::string& parameter, double range) override;
  void draw_once() override;

  at::Tensor weight;  // [count, size]

 private:
  int64_t padding_index_;  // -1: none
};
/// Shared ownership of an EmbeddingImpl.
TORCH_MODULE(Embedding);

/// Layer normalisation, (x - mean(x)) / sqrt(variance(x) + eps) * weight + bias.
class LayerNormImpl : public Layer {
 public:
  LayerNormImpl(int64_t size, double eps, bool with_bias);
  at::Tensor forward(const at::Tensor& x) const;
  void initialize(const std::string& parameter, double range) override;
  void draw_once() override {}

  at::Tensor weight, bias;

 private:
  double eps_;
};
/// Shared ownership of a LayerNormImpl.
TORCH_MODULE(LayerNorm);

/// Root-mean-square normalisation, x / sqrt(mean(x²) + eps) * weight. The norm is computed in float32.
class RMSNormImpl : public Layer {
 public:
  RMSNormImpl(int64_t size, double eps);
  at::Tensor forward(const at::Tensor& x) const;
  void initialize(const std::string& parameter, double range) override;
  void draw_once() override {}

  at::Tensor weight;

 private:
  double eps_;
};
/// Shared ownership of an RMSNormImpl.
TORCH_MODULE(RMSNorm);

/// A part of a model. Its layers are registered under the paths that checkpoints use, such as "attention.self.query".
/// Intermediate modules of a path exist only for their names.
class Block : public torch::nn::Module {
 public:
  using torch::nn::Module::Module;

  /// Called after all layers of the block are initialised. A block with its own initialisation rules draws parameters
  /// again here, but only those for which `is_new` returns true; the others were loaded from a checkpoint. Called under
  /// NoGradGuard.
  virtual void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) {}

 protected:
  Linear linear(std::string_view path, int64_t inputs, int64_t outputs, bool with_bias = true);
  Conv1D conv1d(std::string_view path, int64_t inputs, int64_t outputs);
  Embedding embedding(std::string_view path, int64_t count, int64_t size,
                      std::optional<int64_t> padding_index = std::nullopt);
  LayerNorm layer_norm(std::string_view path, int64_t size, double eps, bool with_bias = true);
  RMSNorm rms_norm(std::string_view path, int64_t size, double eps);

  /// Registers a module at a path; for an element of a list "encoder.layer.3".
  template <class M>
  std::shared_ptr<M> block(std::string_view path, std::shared_ptr<M> module) {
    add(path, module);
    return module;
  }

  at::Tensor dropout(const at::Tensor& x, double probability) const;

 private:
  void add(std::string_view path, std::shared_ptr<torch::nn::Module> module);
};

/// Draws from a normal distribution truncated at `cutoff` standard deviations.
void truncated_normal_(at::Tensor& parameter, double deviation, double cutoff);

}  // namespace transformers
