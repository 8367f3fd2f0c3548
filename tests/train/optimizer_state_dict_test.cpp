#include "accelerate/train/optimizer_state_dict.h"

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "accelerate/train/optimizer.h"
#include "tests/parity/recorded.h"
#include "tests/support/torch.h"

using namespace accelerate;
using accelerate::tests::json;
using accelerate::tests::recorded;
using tensors::TorchValue;
using torch::optim::Adagrad;
using torch::optim::AdagradOptions;
using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::AdamW;
using torch::optim::AdamWOptions;
using torch::optim::LBFGS;
using torch::optim::RMSprop;
using torch::optim::RMSpropOptions;
using torch::optim::SGD;
using torch::optim::SGDOptions;

namespace {

torch::Tensor parameter(int64_t size) { return (torch::arange(size, torch::kFloat) / 8 - 0.5).set_requires_grad(true); }

/// The cases of tests/parity/optimizer_states: one parameter with the options, one with another learning rate.
struct TwoGroups {
  template <class O, class Options>
  void use(Options options) {
    // Both at once: libtorch's Adagrad makes no state for groups that are added later.
    std::vector<torch::optim::OptimizerParamGroup> groups{
        {{first}, std::make_unique<Options>(options)},
        {{second}, std::make_unique<Options>(Options(options).lr(0.5))},
    };
    optimizer = std::make_unique<O>(groups, options);
  }

  explicit TwoGroups(const std::string& name) {
    if (name == "AdamW") use<AdamW>(AdamWOptions(0.02).weight_decay(0.1));
    if (name == "AdamW, amsgrad") use<AdamW>(AdamWOptions(0.02).amsgrad(true).betas({0.8, 0.9}));
    if (name == "Adam") use<Adam>(AdamOptions(0.02).eps(1e-6));
    if (name == "SGD") use<SGD>(SGDOptions(0.1));
    if (name == "SGD, momentum") use<SGD>(SGDOptions(0.1).momentum(0.9).dampening(0.5).weight_decay(0.01));
    if (name == "RMSprop") use<RMSprop>(RMSpropOptions(0.01).alpha(0.9).momentum(0.5).centered(true));
    if (name == "Adagrad") use<Adagrad>(AdagradOptions(0.01).lr_decay(0.1).initial_accumulator_value(0.25));
    REQUIRE_MESSAGE(optimizer, name);
    handle.emplace(*optimizer, std::make_shared<accelerate::GradientState>(), nullptr,
                   accelerate::OptimizerOptions{.fused = false});
  }

  void steps(int from, int to) {
    for (int step = from; step < to; ++step) {
      for (auto& tensor : {first, second}) tensor.mutable_grad() = torch::full_like(tensor, 0.25 * (step + 1));
      handle->step();
    }
  }

  torch::Tensor first = parameter(4), second = parameter(6);
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  std::optional<accelerate::Optimizer> handle;
};

/// As make_reference.py describes values.
json described(const TorchValue& value) {
  using formats::ValueKind;
  auto list = json::array();
  switch (value.kind()) {
    case ValueKind::None:
      return nullptr;
    case ValueKind::Bool:
      return value.boolean();
    case ValueKind::Integer:
      return value.integer();
    case ValueKind::Float:
      return value.number();
    case ValueKind::Tensor:
      return {{"type", "torch.float32"},
              {"shape", value.tensor().sizes().vec()},
              {"sum", value.tensor().to(torch::kDouble).sum().item<double>()}};
    case ValueKind::Dict:
      for (const auto& [key, part] : value.entries()) {
        list.push_back({key.kind() == ValueKind::Text ? json(key.text()) : json(key.integer()), described(part)});
      }
      return list;
    default:
      for (const auto& part : value.items()) list.push_back(described(part));
      return list;
  }
}

/// Equal, but for the rounding of libtorch's own RMSprop and Adagrad.
bool alike(const json& ours, const json& python) {
  if (ours.is_number() && python.is_number()) return ours.get<double>() == doctest::Approx(python.get<double>());
  if (ours.type() != python.type() || ours.size() != python.size()) return false;
  if (!ours.is_structured()) return ours == python;
  for (const auto& [key, part] : ours.items()) {
    if (!alike(part, ours.is_array() ? python.at(std::stoul(key)) : python.at(key))) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the state of every optimizer has Python's keys in Python's order") {
  for (const auto& [name, python] : recorded("optimizer_states").at("cases").items()) {
    TwoGroups groups(name);
    groups.steps(0, 3);
    const auto ours = described(groups.handle->state_dict());
    CHECK_MESSAGE(alike(ours, python), name, "\n", ours.dump(), "\n", python.dump());
  }
}

TEST_CASE("an optimizer goes on from the state of another to the bit") {
  for (const auto& [name, python] : recorded("optimizer_states").at("cases").items()) {
    CAPTURE(name);
    TwoGroups whole(name), half(name);
    whole.steps(0, 3);
    half.first.set_data(whole.first.detach().clone());
    half.second.set_data(whole.second.detach().clone());
    whole.optimizer->param_groups()[0].options().set_lr(0.003);
    half.handle->load_state_dict(
        whole.handle->state_dict().map<at::Tensor>([](const at::Tensor& t) { return t.clone(); }));
    whole.steps(3, 6);
    half.steps(3, 6);
    CHECK(torch::equal(half.first, whole.first));
    CHECK(torch::equal(half.second, whole.second));
  }
}

TEST_CASE("a state that does not fit is refused with its reason, and changes nothing") {
  TwoGroups adamw("AdamW"), adam("Adam"), sgd("SGD, momentum");
  for (auto* groups : {&adamw, &adam, &sgd}) groups->steps(0, 3);
  const auto before = described(adamw.handle->state_dict());
  auto refuse = [&](const TorchValue& state, const char* reason) {
    CHECK_THROWS_WITH_AS(adamw.handle->load_state_dict(state), doctest::Contains(reason), Error);
  };
  refuse(adam.handle->state_dict(),
         "group 0: 'decoupled_weight_decay' is False, which this optimizer does not support");
  refuse(sgd.handle->state_dict(), "group 0: the dict has no key 'betas'");
  refuse(TorchValue::dict({{"a", 1}}), "no key 'param_groups'");

  auto state = adamw.handle->state_dict();
  auto& groups = state.entries()[1].second.items();
  groups[0].entries().back().second.items().emplace_back(7);
  refuse(state, "group 0 has 2 parameters; the optimizer's group has 1");
  groups.pop_back();
  refuse(state, "it has 1 groups of parameters; the optimizer has 2");

  state = adamw.handle->state_dict();
  state.entries()[0].second.entries()[1].second.entries()[1].second = TorchValue(torch::zeros({5}));
  refuse(state, "the state of parameter 1: 'exp_avg' has the shape [5] and the parameter [6]");

  // A file can say that it holds more numbers than there is memory for, and give one for all of them.
  const auto many = torch::zeros({}).expand({int64_t{1} << 40});
  state = adamw.handle->state_dict();
  state.entries()[0].second.entries()[1].second.entries()[0].second = TorchValue(many);
  refuse(state, "the state of parameter 1: 'step' is not a single number");
  state = adamw.handle->state_dict();
  state.entries()[1].second.items()[0].entries()[0].second = TorchValue(many);
  refuse(state, "group 0: 'lr' is not a single number");
  CHECK(described(adamw.handle->state_dict()) == before);

  LBFGS lbfgs({parameter(2)});
  CHECK_THROWS_WITH_AS(accelerate::Optimizer(lbfgs).state_dict(),
                       doctest::Contains("LBFGS cannot be saved in a checkpoint"), Error);
}
