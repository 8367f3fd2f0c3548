#include "transformers/gradient_checkpoint.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include <ATen/autocast_mode.h>
#include <ATen/core/Generator.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/custom_class.h>

#include "accelerate/base/scope.h"
#include "accelerate/precision/autocast.h"

namespace transformers {

namespace {

using Tensors = std::vector<at::Tensor>;
using Recipe = std::function<at::Tensor(const Tensors&)>;

at::Tensor random_state(at::Generator generator) {
  std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_random_state(at::Generator generator, const at::Tensor& state) {
  std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

/// A function, and the random state and autocast settings at construction, so that a second call gives the same result.
class RepeatableCall {
 public:
  RepeatableCall(Recipe function, at::Device device)
      : function_(std::move(function)),
        device_(device),
        random_state_(random_state(generator())),
        autocast_dtype_(at::autocast::get_autocast_dtype(device.type())),
        autocast_({.enabled = at::autocast::is_autocast_enabled(device.type()),
                   .cache_enabled = at::autocast::is_autocast_cache_enabled()}) {}

  at::Tensor first_time(const Tensors& inputs) const { return call(inputs); }

  at::Tensor again(const Tensors& inputs) const {
    accelerate::ScopeExit go_on([this, now = random_state(generator())] { set_random_state(generator(), now); });
    set_random_state(generator(), random_state_);
    accelerate::Autocast autocast(device_.type(), autocast_dtype_, autocast_);
    at::AutoGradMode with_gradients(true);
    return call(inputs);
  }

 private:
  at::Tensor call(Tensors inputs) const {
    // Autocast treats a leaf as a parameter and caches its cast. Then the gradients of several uses would be summed in
    // half precision. A view is not a leaf.
    for (auto& input : inputs) input = input.view_as(input);
    return function_(inputs);
  }

  const at::Generator& generator() const { return at::globalContext().defaultGenerator(device_); }

  Recipe function_;
  at::Device device_;
  at::Tensor random_state_;
  at::ScalarType autocast_dtype_;
  accelerate::AutocastKwargs autocast_;
};

/// Detaches the inputs from their graph and keeps requires_grad.
Tensors cut_off(Tensors inputs) {
  for (auto& input : inputs) input = input.detach().requires_grad_(input.requires_grad());
  return inputs;
}

/// The leaves of the graph of `y`, without `inputs`: the parameters that a function uses.
Tensors parameters_behind(const at::Tensor& y, const Tensors& inputs) {
  auto is_input = [&](const at::Tensor& leaf) {
    return std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return input.is_same(leaf); });
  };
  Tensors parameters;
  std::unordered_set<const torch::autograd::Node*> seen;
  std::vector<torch::autograd::Edge> ahead{torch::autograd::impl::gradient_edge(y)};
  while (!ahead.empty()) {
    auto node = ahead.back().function;
    ahead.pop_back();
    if (!node || !seen.insert(node.get()).second) continue;
    auto* end = dynamic_cast<torch::autograd::AccumulateGrad*>(node.get());
    if (end && !is_input(end->variable)) parameters.push_back(end->variable);
    const auto& next = node->next_edges();
    ahead.insert(ahead.end(), next.begin(), next.end());
  }
  return parameters;
}

/// The gradients of `sources`; undefined for those that require none. Tensor hooks are not called, because these
/// gradients are only the contribution of one call.
Tensors partial_gradients(const at::Tensor& y, const at::Tensor& gradient, const Tensors& sources) {
  std::vector<size_t> places;
  Tensors differentiable;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].requires_grad()) continue;
    places.push_back(i);
    differentiable.push_back(sources[i]);
  }

  std::vector<std::vector<std::unique_ptr<torch::autograd::FunctionPreHook>>> hooks(differentiable.size());
  auto swap_hooks = [&] {
    for (size_t i = 0; i < hooks.size(); ++i) {
      std::swap(hooks[i], torch::autograd::impl::materialize_autograd_meta(differentiable[i])->hooks_);
    }
  };
  swap_hooks();
  accelerate::ScopeExit put_back(swap_hooks);
  auto found = torch::autograd::grad({y}, differentiable, {gradient}, /*retain_graph=*/std::nullopt,
                                     /*create_graph=*/false, /*allow_unused=*/true);
  Tensors gradients(sources.size());
  for (size_t i = 0; i < places.size(); ++i) gradients[places[i]] = std::move(found[i]);
  return gradients;
}

/// The autograd node of a call. Parameters are inputs of the node, so that autograd accumulates their gradients as
/// usual: a parameter of several calls gets the sum once, and code that traverses the graph finds it.
struct Recomputed : torch::autograd::Function<Recomputed> {
  struct Kept : torch::CustomClassHolder {
    Kept(RepeatableCall call, Tensors parameters) : call(std::move(call)), parameters(std::move(parameters)) {}
    RepeatableCall call;
    Tensors parameters;
  };

  /// The result of the first call, wrapped because autograd would treat a plain tensor as an input.
  struct Result {
    at::Tensor y;
  };

  static at::Tensor forward(torch::autograd::AutogradContext* context, at::TensorList sources, const Result& result,
                            const c10::intrusive_ptr<Kept>& kept) {
    context->save_for_backward(sources.slice(0, sources.size() - kept->parameters.size()).vec());
    context->saved_data["kept"] = c10::IValue::make_capsule(kept);
    return result.y.variable_data();
  }

  static Tensors backward(torch::autograd::AutogradContext* context, const Tensors& gradients) {
    auto capsule = context->saved_data["kept"].toCapsule();
    const auto& kept = static_cast<const Kept&>(*capsule);
    auto sources = cut_off(context->get_saved_variables());
    auto y = kept.call.again(sources);
    sources.insert(sources.end(), kept.parameters.begin(), kept.parameters.end());
    auto results = partial_gradients(y, gradients[0], sources);
    results.resize(results.size() + 2);  // the result and what is kept have none
    return results;
  }
};

}  // namespace

at::Tensor gradient_checkpoint(const Recipe& function, const Tensors& inputs) {
  if (!at::GradMode::is_enabled()) return function(inputs);
  RepeatableCall call(function, inputs.at(0).device());
  auto ends = cut_off(inputs);
  auto y = call.first_time(ends);  // its graph says which parameters there are, and goes with this scope
  auto parameters = parameters_behind(y, ends);
  auto sources = inputs;
  sources.insert(sources.end(), parameters.begin(), parameters.end());
  return Recomputed::apply(at::TensorList(sources), Recomputed::Result{y},
                           c10::make_intrusive<Recomputed::Kept>(std::move(call), std::move(parameters)));
}

}  // namespace transformers
