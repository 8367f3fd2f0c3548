#pragma once

// The layers that models are made of. Their parameters are allocated but not filled: weights come from a checkpoint,
// and only what is missing there is drawn, so that building a model neither takes time nor touches the random
// generator.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace transformers {

/// A module with parameters of its own, which knows how to fill them when no checkpoint does.
class Layer : public torch::nn::Module {
 public:
  /// Fills one parameter: weights are drawn from a normal distribution with the standard deviation `range`.
  virtual void initialize(const std::string& parameter, double range);

  /// Draws the random numbers that the constructor of Python's layer draws, for values that do not stay: one for each
  /// element of each parameter, from a uniform distribution.
  virtual void draw_once();
};

/// x Wᵀ + b.
class LinearImpl : public Layer {
 public:
  LinearImpl(int64_t inputs, int64_t outputs, bool with_bias);
  at::Tensor forward(const at::Tensor& x) const;

  at::Tensor weight, bias;  // [outputs, inputs], [outputs] or undefined
};
/// Shared ownership of a LinearImpl, as torch's own modules have it.
TORCH_MODULE(Linear);

/// GPT-2's form of a linear layer, whose weight is stored the other way round.
class Conv1DImpl : public Layer {
 public:
  Conv1DImpl(int64_t inputs, int64_t outputs);
  at::Tensor forward(const at::Tensor& x) const;
  void draw_once() override;

  at::Tensor weight, bias;  // [inputs, outputs], [outputs]
};
/// Shared ownership of a Conv1DImpl.
TORCH_MODULE(Conv1D);

/// A table with a row for each id. The row of `padding_index` gets no gradient, and is 0 when it is new; a
/// negative one counts from the end.
class EmbeddingImpl : public Layer {
 public:
  EmbeddingImpl(int64_t count, int64_t size, std::optional<int64_t> padding_index);
  at::Tensor forward(const at::Tensor& ids) const;
  void initialize(const std::string& parameter, double range) override;
  void draw_once() override;

  at::Tensor weight;  // [count, size]

 private:
  int64_t padding_index_;  // -1 without one
};
/// Shared ownership of an EmbeddingImpl.
TORCH_MODULE(Embedding);

/// (x - mean(x)) / sqrt(variance(x) + eps) * weight + bias.
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

/// x / sqrt(mean(x²) + eps) * weight, computed in float whatever the type of x.
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

/// A part of a model. Its layers are registered under the paths that checkpoints use, such as "attention.self.query";
/// the modules on the way exist for the names alone.
class Block : public torch::nn::Module {
 public:
  using torch::nn::Module::Module;

  /// Called once all layers below are initialised. A block with rules of its own draws those parameters again for which
  /// `is_new` holds; the others came from a checkpoint. Gradients are off.
  virtual void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) {}

 protected:
  Linear linear(std::string_view path, int64_t inputs, int64_t outputs, bool with_bias = true);
  Conv1D conv1d(std::string_view path, int64_t inputs, int64_t outputs);
  Embedding embedding(std::string_view path, int64_t count, int64_t size,
                      std::optional<int64_t> padding_index = std::nullopt);
  LayerNorm layer_norm(std::string_view path, int64_t size, double eps, bool with_bias = true);
  RMSNorm rms_norm(std::string_view path, int64_t size, double eps);

  /// Any module at a path; of a list, "encoder.layer.3".
  template <class M>
  std::shared_ptr<M> block(std::string_view path, std::shared_ptr<M> module) {
    add(path, module);
    return module;
  }

  at::Tensor dropout(const at::Tensor& x, double probability) const;

 private:
  void add(std::string_view path, std::shared_ptr<torch::nn::Module> module);
};

/// Draws from a normal distribution, and again whatever is further than `cutoff` standard deviations from 0.
void truncated_normal_(at::Tensor& parameter, double deviation, double cutoff);

}  // namespace transformers
