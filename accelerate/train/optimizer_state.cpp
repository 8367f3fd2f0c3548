#include "accelerate/train/optimizer_state.h"

#include "accelerate/train/optimizer_forms.h"

namespace accelerate::train {

namespace {

/// Visits the defined tensors among the fields of a form.
struct DefinedTensors {
  const std::function<void(at::Tensor&)>& visit;

  void operator()(const char*, int64_t) {}
  void operator()(const char*, at::Tensor& tensor) {
    if (tensor.defined()) visit(tensor);
  }
  void optional(const char* key, at::Tensor& tensor) { (*this)(key, tensor); }
};

/// Returns false if `state` is not of this form.
template <class Form>
bool visit_as(torch::optim::OptimizerParamState& state, DefinedTensors& visit) {
  auto* own = dynamic_cast<typename Form::State*>(&state);
  if (own) Form::visit_state(*own, visit);
  return own != nullptr;
}

/// LBFGS has no form: Python's state_dict of it is another.
void visit_lbfgs(torch::optim::LBFGSParamState& state, DefinedTensors& visit) {
  for (auto* tensor : {&state.d(), &state.H_diag(), &state.prev_flat_grad()}) visit("", *tensor);
  for (auto* history : {&state.old_dirs(), &state.old_stps(), &state.ro()}) {
    for (auto& tensor : *history) visit("", tensor);
  }
  if (!state.al()) return;
  for (auto& tensor : *state.al()) visit("", tensor);
}

}  // namespace

void for_each_state_tensor(torch::optim::OptimizerParamState& state, const std::function<void(at::Tensor&)>& visit) {
  using namespace torch::optim;
  DefinedTensors defined{visit};
  if (visit_as<AdamForm<AdamWOptions, AdamWParamState>>(state, defined)) return;
  if (visit_as<AdamForm<AdamOptions, AdamParamState>>(state, defined)) return;
  if (visit_as<SgdForm>(state, defined) || visit_as<RmspropForm>(state, defined)) return;
  if (visit_as<AdagradForm>(state, defined)) return;
  if (auto* lbfgs = dynamic_cast<LBFGSParamState*>(&state)) visit_lbfgs(*lbfgs, defined);
}

void move_state_to_parameters(torch::optim::Optimizer& optimizer) {
  for (auto& group : optimizer.param_groups()) {
    for (auto& parameter : group.params()) {
      auto state = optimizer.state().find(parameter.unsafeGetTensorImpl());
      if (state == optimizer.state().end()) continue;
      for_each_state_tensor(*state->second, [&](at::Tensor& tensor) { tensor = tensor.to(parameter.device()); });
    }
  }
}

}  // namespace accelerate::train
