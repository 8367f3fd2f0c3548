#pragma once

// The mapping between the fields of libtorch's optimizers and the keys of Python's state_dict, in Python's order. A
// visitor gets `visit(key, field)` for each field that both have, and `visit.only_python(key, value)` for an option
// that libtorch lacks, with the value that it behaves as.

#include <torch/optim.h>

namespace accelerate::train {

/// Adam and AdamW. In Python they are one class.
template <class OptionsType, class StateType>
struct AdamForm {
  using Options = OptionsType;
  using State = StateType;

  template <class Visit>
  static void visit_options(Options& options, Visit& visit) {
    visit("lr", options.lr());
    visit("betas", options.betas());
    visit("eps", options.eps());
    visit("weight_decay", options.weight_decay());
    visit("amsgrad", options.amsgrad());
    visit.only_python("maximize", false);
    visit.kernel("foreach");
    visit.kernel("capturable");
    visit.kernel("differentiable");
    visit.kernel("fused");
    visit.only_python("decoupled_weight_decay", std::is_same_v<Options, torch::optim::AdamWOptions>);
  }

  template <class Visit>
  static void visit_state(State& state, Visit& visit) {
    visit("step", state.step());
    visit("exp_avg", state.exp_avg());
    visit("exp_avg_sq", state.exp_avg_sq());
    visit.optional("max_exp_avg_sq", state.max_exp_avg_sq());
  }
};

struct SgdForm {
  using Options = torch::optim::SGDOptions;
  using State = torch::optim::SGDParamState;

  template <class Visit>
  static void visit_options(Options& options, Visit& visit) {
    visit("lr", options.lr());
    visit("momentum", options.momentum());
    visit("dampening", options.dampening());
    visit("weight_decay", options.weight_decay());
    visit("nesterov", options.nesterov());
    visit.only_python("maximize", false);
    visit.kernel("foreach");
    visit.kernel("differentiable");
    visit.kernel("fused");
  }

  template <class Visit>
  static void visit_state(State& state, Visit& visit) {
    visit.optional("momentum_buffer", state.momentum_buffer());
  }
};

struct RmspropForm {
  using Options = torch::optim::RMSpropOptions;
  using State = torch::optim::RMSpropParamState;

  template <class Visit>
  static void visit_options(Options& options, Visit& visit) {
    visit("lr", options.lr());
    visit("momentum", options.momentum());
    visit("alpha", options.alpha());
    visit("eps", options.eps());
    visit("centered", options.centered());
    visit("weight_decay", options.weight_decay());
    visit.kernel("capturable");
    visit.kernel("foreach");
    visit.only_python("maximize", false);
    visit.kernel("differentiable");
  }

  template <class Visit>
  static void visit_state(State& state, Visit& visit) {
    visit("step", state.step());
    visit("square_avg", state.square_avg());
    visit.optional("momentum_buffer", state.momentum_buffer());
    visit.optional("grad_avg", state.grad_avg());
  }
};

struct AdagradForm {
  using Options = torch::optim::AdagradOptions;
  using State = torch::optim::AdagradParamState;

  template <class Visit>
  static void visit_options(Options& options, Visit& visit) {
    visit("lr", options.lr());
    visit("lr_decay", options.lr_decay());
    visit("eps", options.eps());
    visit("weight_decay", options.weight_decay());
    visit("initial_accumulator_value", options.initial_accumulator_value());
    visit.kernel("foreach");
    visit.only_python("maximize", false);
    visit.kernel("differentiable");
    visit.kernel("fused");
  }

  template <class Visit>
  static void visit_state(State& state, Visit& visit) {
    visit("step", state.step());
    visit("sum", state.sum());
  }
};

}  // namespace accelerate::train
