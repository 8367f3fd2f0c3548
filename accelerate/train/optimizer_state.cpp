#include "accelerate/train/optimizer_state.h"

#include <initializer_list>

#include <torch/optim.h>

namespace accelerate::train {

void for_each_state_tensor(torch::optim::OptimizerParamState& state, const std::function<void(at::Tensor&)>& visit) {
  const auto visit_defined = [&](std::initializer_list<at::Tensor*> tensors) {
    for (auto* tensor : tensors) {
      if (tensor->defined()) visit(*tensor);
    }
  };
  if (auto* adamw = dynamic_cast<torch::optim::AdamWParamState*>(&state)) {
    visit_defined({&adamw->exp_avg(), &adamw->exp_avg_sq(), &adamw->max_exp_avg_sq()});
  } else if (auto* adam = dynamic_cast<torch::optim::AdamParamState*>(&state)) {
    visit_defined({&adam->exp_avg(), &adam->exp_avg_sq(), &adam->max_exp_avg_sq()});
  } else if (auto* sgd = dynamic_cast<torch::optim::SGDParamState*>(&state)) {
    visit_defined({&sgd->momentum_buffer()});
  } else if (auto* rmsprop = dynamic_cast<torch::optim::RMSpropParamState*>(&state)) {
    visit_defined({&rmsprop->square_avg(), &rmsprop->momentum_buffer(), &rmsprop->grad_avg()});
  } else if (auto* adagrad = dynamic_cast<torch::optim::AdagradParamState*>(&state)) {
    visit_defined({&adagrad->sum()});
  } else if (auto* lbfgs = dynamic_cast<torch::optim::LBFGSParamState*>(&state)) {
    visit_defined({&lbfgs->d(), &lbfgs->H_diag(), &lbfgs->prev_flat_grad()});
    for (auto* history : {&lbfgs->old_dirs(), &lbfgs->old_stps(), &lbfgs->ro()}) {
      for (auto& tensor : *history) visit_defined({&tensor});
    }
    if (lbfgs->al()) {
      for (auto& tensor : *lbfgs->al()) visit_defined({&tensor});
    }
  }
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
