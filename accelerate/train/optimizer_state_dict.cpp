#include "accelerate/train/optimizer_state_dict.h"

#include <algorithm>
#include <map>
#include <memory>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <c10/util/Type.h>

#include "accelerate/base/error.h"
#include "accelerate/sharding/optimizer_sharding.h"
#include "accelerate/train/optimizer_forms.h"

namespace accelerate::train {
namespace {

using sharding::OptimizerSharding;
using tensors::StoredTensor;
using tensors::StoredValue;
using tensors::TorchValue;
using Options = std::unique_ptr<torch::optim::OptimizerOptions>;
using State = std::unique_ptr<torch::optim::OptimizerParamState>;

/// Calls `work` with the form of the optimizer's class.
template <class Work>
auto with_form(torch::optim::Optimizer& optimizer, Work&& work) {
  using namespace torch::optim;
  if (dynamic_cast<AdamW*>(&optimizer)) return work(AdamForm<AdamWOptions, AdamWParamState>());
  if (dynamic_cast<Adam*>(&optimizer)) return work(AdamForm<AdamOptions, AdamParamState>());
  if (dynamic_cast<SGD*>(&optimizer)) return work(SgdForm());
  if (dynamic_cast<RMSprop*>(&optimizer)) return work(RmspropForm());
  if (dynamic_cast<Adagrad*>(&optimizer)) return work(AdagradForm());
  fail("the state of the optimizer ", c10::demangle(typeid(optimizer).name()),
       " cannot be saved in a checkpoint; Adam, AdamW, SGD, RMSprop and Adagrad can");
}

/// Reads a tensor with one element. Checks the shape in the file before any memory is allocated.
at::Tensor single_number(const char* key, const StoredTensor& tensor) {
  if (std::any_of(tensor.shape.begin(), tensor.shape.end(), [](int64_t size) { return size != 1; })) {
    fail("'", key, "' is not a single number");
  }
  return tensor.read();
}

struct OptionsWriter {
  TorchValue::Entries& entries;
  bool fused;

  void operator()(const char* key, const std::tuple<double, double>& betas) {
    entries.emplace_back(key, TorchValue::tuple({std::get<0>(betas), std::get<1>(betas)}));
  }
  void operator()(const char* key, double option) { entries.emplace_back(key, option); }
  void operator()(const char* key, bool option) { entries.emplace_back(key, option); }
  void only_python(const char* key, bool value) { entries.emplace_back(key, value); }
  void kernel(std::string_view key) {
    // Python's defaults: None lets Python choose; these two are plain flags.
    const bool is_flag = key == "capturable" || key == "differentiable";
    entries.emplace_back(key, key == "fused" && fused ? TorchValue(true) : is_flag ? TorchValue(false) : TorchValue());
  }
};

struct OptionsReader {
  const StoredValue& group;

  void operator()(const char* key, std::tuple<double, double>& betas) {
    const auto& values = group.at(key).items();
    if (values.size() != 2) fail("'", key, "' has ", values.size(), " numbers instead of 2");
    betas = {values[0].number(), values[1].number()};
  }
  void operator()(const char* key, double& option) {
    const auto& value = group.at(key);
    const bool is_tensor = value.kind() == formats::ValueKind::Tensor;
    option = is_tensor ? single_number(key, value.tensor()).item<double>() : value.number();
  }
  void operator()(const char* key, bool& option) { option = group.at(key).boolean(); }
  void only_python(const char* key, bool expected) {
    const auto* value = group.find(key);
    if (value && value->boolean() != expected) {
      fail("'", key, "' is ", value->boolean() ? "True" : "False", ", which this optimizer does not support");
    }
  }
  void kernel(std::string_view) {}  // Python's choice of kernel; the result is the same
};

/// `sharding` if it shards `parameter`, else null.
template <class Sharding>
Sharding* sharding_of(const at::Tensor& parameter, Sharding* sharding) {
  return sharding && sharding->shards(parameter) ? sharding : nullptr;
}

struct StateWriter {
  TorchValue::Entries& entries;
  const at::Tensor& parameter;
  const OptimizerSharding* sharding;

  void operator()(const char* key, int64_t step) { entries.emplace_back(key, at::scalar_tensor(step, at::kFloat)); }
  void operator()(const char* key, const at::Tensor& tensor) {
    entries.emplace_back(key, sharding ? sharding->gather(parameter, tensor) : tensor);
  }
  void optional(const char* key, const at::Tensor& tensor) {
    if (tensor.defined()) (*this)(key, tensor);
  }
};

/// The tensors of a parameter's state by key.
struct StateTensors {
  std::map<std::string, at::Tensor> tensors = {};

  void operator()(const char*, int64_t) {}
  void operator()(const char* key, const at::Tensor& tensor) { tensors[key] = tensor; }
  void optional(const char* key, const at::Tensor& tensor) { tensors[key] = tensor; }
};

/// A tensor of the new state, which may be undefined yet, and the stored values to copy into it.
struct PendingCopy {
  at::Tensor* tensor;
  at::Tensor parameter;
  StoredTensor values;
  OptimizerSharding* sharding;

  bool is_shared() const { return sharding && sharding->has_shared_state(parameter); }
};

/// Moves tensors into shared memory. All its ranks then write the same values, but only after all have arrived: until
/// then another rank may still read the old ones.
void move_shared_tensors(const std::vector<PendingCopy>& copies) {
  std::vector<sharding::StateTensor> shared;
  OptimizerSharding* sharding = nullptr;  // one, because they belong to one optimizer
  for (const auto& copy : copies) {
    if (!copy.is_shared()) continue;
    shared.push_back({copy.parameter, copy.tensor});
    sharding = copy.sharding;
  }
  if (!sharding) return;
  sharding->move_to_shared_memory(shared);
  sharding->group().barrier("loading the state of an optimizer, which ranks share unless zero_stage is 0");
}

/// Loads the tensors that are cut to shards one by one, so that only one of them is whole at a time.
void fill(const std::vector<PendingCopy>& copies) {
  move_shared_tensors(copies);
  std::vector<std::pair<at::Tensor, StoredTensor>> whole;
  for (const auto& copy : copies) {
    const auto& [tensor, parameter, values, sharding] = copy;
    if (!tensor->defined()) *tensor = at::empty_like(parameter.detach());
    if (!sharding || copy.is_shared()) {
      whole.emplace_back(*tensor, values);
      continue;
    }
    values.copy_into(*tensor);
    *tensor = sharding->copy_own_shard(parameter, *tensor);
  }
  tensors::copy_all(whole);
}

struct StateReader {
  const StoredValue& saved;
  const at::Tensor& parameter;
  const StateTensors& own;  // of the old state
  OptimizerSharding* sharding;
  std::vector<PendingCopy>& copies;

  void operator()(const char* key, int64_t& step) {
    const auto& value = saved.at(key);
    const bool is_tensor = value.kind() == formats::ValueKind::Tensor;  // a number in old files
    step = is_tensor ? single_number(key, value.tensor()).item<int64_t>() : value.integer();
  }
  void operator()(const char* key, at::Tensor& tensor) {
    const auto& value = saved.at(key).tensor();
    if (parameter.sizes() != value.shape) {
      fail("'", key, "' has the shape ", at::IntArrayRef(value.shape), " and the parameter ", parameter.sizes());
    }
    const auto old = own.tensors.find(key);
    if (old != own.tensors.end() && is_fitting(old->second)) tensor = old->second;
    copies.push_back({&tensor, parameter, value, sharding});
  }
  void optional(const char* key, at::Tensor& tensor) {
    const auto* value = saved.find(key);
    if (value && !value->is_none()) (*this)(key, tensor);
  }

  bool is_fitting(const at::Tensor& old) const {
    return old.defined() && old.sizes() == parameter.sizes() && old.scalar_type() == parameter.scalar_type() &&
           old.device() == parameter.device();
  }
};

/// Runs `work` and prefixes its Errors with the context.
template <class... About>
void with_context(const std::function<void()>& work, const About&... about) {
  try {
    work();
  } catch (const Error& error) {
    fail(about..., ": ", error.what());
  }
}

/// The content of a state_dict as libtorch's objects.
struct Plan {
  std::vector<Options> options;                 // of each group
  std::vector<std::pair<void*, State>> states;  // by parameter, as in Optimizer::state()
  std::vector<PendingCopy> copies;              // of their tensors
};

/// The parameters by their numbers in the checkpoint.
std::unordered_map<int64_t, at::Tensor> numbered(torch::optim::Optimizer& optimizer, const StoredValue::Items& groups) {
  auto& own = optimizer.param_groups();
  if (groups.size() != own.size()) {
    fail("it has ", groups.size(), " groups of parameters; the optimizer has ", own.size());
  }
  std::unordered_map<int64_t, at::Tensor> parameters;
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto& numbers = groups[i].at("params").items();
    if (numbers.size() != own[i].params().size()) {
      fail("group ", i, " has ", numbers.size(), " parameters; the optimizer's group has ", own[i].params().size());
    }
    for (size_t j = 0; j < numbers.size(); ++j) parameters[numbers[j].integer()] = own[i].params()[j];
  }
  return parameters;
}

template <class Form>
StateTensors tensors_of(torch::optim::Optimizer& optimizer, const at::Tensor& parameter) {
  StateTensors own;
  const auto state = optimizer.state().find(parameter.unsafeGetTensorImpl());
  if (state != optimizer.state().end()) Form::visit_state(static_cast<typename Form::State&>(*state->second), own);
  return own;
}

template <class Form>
Plan make_plan(torch::optim::Optimizer& optimizer, const StoredValue& state, OptimizerSharding* sharding) {
  Plan plan;
  const auto& groups = state.at("param_groups").items();
  const auto parameters = numbered(optimizer, groups);
  for (size_t i = 0; i < groups.size(); ++i) {
    auto options = std::make_unique<typename Form::Options>(
        static_cast<const typename Form::Options&>(optimizer.param_groups()[i].options()));
    OptionsReader reader{groups[i]};
    with_context([&] { Form::visit_options(*options, reader); }, "group ", i);
    plan.options.push_back(std::move(options));
  }
  for (const auto& [number, saved] : state.at("state").entries()) {
    auto parameter = parameters.find(number.integer());
    if (parameter == parameters.end()) fail("there is no parameter ", number.integer());
    auto own = std::make_unique<typename Form::State>();
    const auto old = tensors_of<Form>(optimizer, parameter->second);
    StateReader reader{saved, parameter->second, old, sharding_of(parameter->second, sharding), plan.copies};
    with_context([&] { Form::visit_state(*own, reader); }, "the state of parameter ", number.integer());
    plan.states.emplace_back(parameter->second.unsafeGetTensorImpl(), std::move(own));
  }
  return plan;
}

}  // namespace

TorchValue optimizer_state_dict(torch::optim::Optimizer& optimizer, bool fused, const OptimizerSharding* sharding) {
  return with_form(optimizer, [&]<class Form>(Form) {
    TorchValue::Entries states;
    TorchValue::Items groups;
    int64_t number = 0;
    for (auto& group : optimizer.param_groups()) {
      TorchValue::Items numbers;
      for (auto& parameter : group.params()) {
        auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
        if (found != optimizer.state().end()) {
          TorchValue::Entries entries;
          StateWriter writer{entries, parameter, sharding_of(parameter, sharding)};
          Form::visit_state(static_cast<typename Form::State&>(*found->second), writer);
          states.emplace_back(number, TorchValue::dict(std::move(entries)));
        }
        numbers.emplace_back(number++);
      }
      TorchValue::Entries entries;
      OptionsWriter writer{entries, fused};
      Form::visit_options(static_cast<typename Form::Options&>(group.options()), writer);
      entries.emplace_back("params", TorchValue::list(std::move(numbers)));
      groups.push_back(TorchValue::dict(std::move(entries)));
    }
    return TorchValue::dict(
        {{"state", TorchValue::dict(std::move(states))}, {"param_groups", TorchValue::list(std::move(groups))}});
  });
}

std::function<void()> checked_optimizer_state(torch::optim::Optimizer& optimizer, const StoredValue& state,
                                              OptimizerSharding* sharding) {
  auto plan = std::make_shared<Plan>(
      with_form(optimizer, [&]<class Form>(Form) { return make_plan<Form>(optimizer, state, sharding); }));
  return [&optimizer, plan] {
    at::NoGradGuard no_grad;
    fill(plan->copies);
    for (size_t i = 0; i < plan->options.size(); ++i) {
      optimizer.param_groups()[i].set_options(std::move(plan->options[i]));
    }
    optimizer.state().clear();
    for (auto& [parameter, own] : plan->states) optimizer.state()[parameter] = std::move(own);
  };
}

}  // namespace accelerate::train
