#pragma once

// The handle that prepare() returns for a model.

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <torch/nn/pimpl.h>

#include "accelerate/precision/autocast.h"
#include "accelerate/tensors/distinct_tensors.h"
#include "accelerate/tensors/hidden_tensors.h"
#include "accelerate/tensors/nest.h"
#include "accelerate/train/prepared_model.h"

namespace accelerate::train {

/// A module with a forward for training: synchronizes buffers, autocasts, and converts outputs to float32. `model(x)`
/// and `model->forward(x)` call it, for any signature of `forward`; `*model` is the module itself. Copies refer to the
/// same model.
template <class M>
class Model {
 public:
  Model(std::shared_ptr<M> module, std::shared_ptr<PreparedModel> prepared)
      : module_(std::move(module)), prepared_(std::move(prepared)) {}

  template <class... Args>
  auto forward(Args&&... args) const {
    static_assert(!tensors::hides_tensors<decltype(module_->forward(std::forward<Args>(args)...))>,
                  "the model returns a struct with tensors, which a prepared model has to find, to return them in "
                  "float32: write beside the struct, in its namespace: "
                  "auto tensor_fields(MyOutput& output) { return std::tie(output.logits, output.loss); }");
    const auto& options = prepared_->options();
    prepared_->before_forward();
    if (options.mixed_precision == precision::MixedPrecision::No) return module_->forward(std::forward<Args>(args)...);
    precision::Autocast autocast(options.device.type(), options.mixed_precision, options.autocast);
    return tensors::convert_to_fp32(module_->forward(std::forward<Args>(args)...));
  }

  template <class... Args>
  auto operator()(Args&&... args) const {
    return forward(std::forward<Args>(args)...);
  }

  const Model* operator->() const { return this; }
  M& operator*() const { return *module_; }
  const std::shared_ptr<M>& module() const { return module_; }

  void train(bool on = true) const { module_->train(on); }
  void eval() const { module_->eval(); }
  bool is_training() const { return module_->is_training(); }
  /// Without duplicates: a tied parameter appears once.
  std::vector<at::Tensor> parameters() const { return tensors::distinct_tensors(module_->parameters()); }
  auto named_parameters() const { return module_->named_parameters(); }
  std::vector<at::Tensor> buffers() const { return module_->buffers(); }
  auto named_buffers() const { return module_->named_buffers(); }

  /// Lets `hook` average the gradients of this model. All ranks register the same hook, before the first backward.
  /// Throws Error if the model already has a hook, or with zero_stage = 2. Does nothing on one process.
  void register_comm_hook(parallel::CommHookFunction hook) const { prepared_->register_comm_hook(std::move(hook)); }

  /// What the copies of a handle share. Internal.
  friend const std::shared_ptr<PreparedModel>& record_of(const Model& model) { return model.prepared_; }

 private:
  std::shared_ptr<M> module_;
  std::shared_ptr<PreparedModel> prepared_;
};

/// The module in a ModuleHolder (TORCH_MODULE), a shared_ptr, or a prepared model.
template <class M>
std::shared_ptr<M> module_of(const torch::nn::ModuleHolder<M>& holder) {
  return holder.ptr();
}
template <std::derived_from<torch::nn::Module> M>
std::shared_ptr<M> module_of(const std::shared_ptr<M>& module) {
  return module;
}
template <class M>
std::shared_ptr<M> module_of(const Model<M>& model) {
  return model.module();
}

template <class T>
concept ModuleLike = requires(const T& model) { module_of(model); };

template <class T>
constexpr bool is_model = false;
template <class M>
constexpr bool is_model<Model<M>> = true;

}  // namespace accelerate::train

namespace accelerate {
using train::Model;
}
