#pragma once

// The update rules of Adam, AdamW, SGD and RMSprop for one parameter: Python's default sequence of operations, for
// bit-identical results. libtorch's own classes round differently. State is kept in torch's ParamState objects.

#include <ATen/core/Tensor.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

namespace accelerate::train {

/// The state that `optimizer` keeps for `parameter`, or null.
template <class State>
State* find_state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter) {
  auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
  return found == optimizer.state().end() ? nullptr : static_cast<State*>(found->second.get());
}

/// Stores the state of a parameter without one.
template <class State>
State& add_state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, std::unique_ptr<State> state) {
  auto& place = optimizer.state()[parameter.unsafeGetTensorImpl()];
  place = std::move(state);
  return static_cast<State&>(*place);
}

template <class OptionsType, class StateType>
struct AdamRule {
  using Options = OptionsType;
  using State = StateType;
  static constexpr bool decoupled_weight_decay = std::is_same_v<Options, torch::optim::AdamWOptions>;

  /// The parameter's state. Created with zeros on first use, with the layout of `values`: the parameter, or a slice of
  /// it. Throws Error for a sparse gradient.
  static State& state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, const at::Tensor& values,
                      const Options& options);

  /// One step of a parameter that has a gradient.
  static void update(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, const Options& options);
};

using AdamOriginalRule = AdamRule<torch::optim::AdamOptions, torch::optim::AdamParamState>;
using AdamWRule = AdamRule<torch::optim::AdamWOptions, torch::optim::AdamWParamState>;

struct SgdRule {
  using Options = torch::optim::SGDOptions;
  using State = torch::optim::SGDParamState;

  /// One step of a parameter that has a gradient, dense or sparse.
  static void update(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, const Options& options);
};

struct RmspropRule {
  using Options = torch::optim::RMSpropOptions;
  using State = torch::optim::RMSpropParamState;

  /// One step of a parameter that has a gradient. Throws Error for a sparse one.
  static void update(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, const Options& options);
};

}  // namespace accelerate::train
