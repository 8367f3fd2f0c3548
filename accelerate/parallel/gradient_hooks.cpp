#include "accelerate/parallel/gradient_hooks.h"

#include <mutex>
#include <unordered_map>

#include <torch/autograd.h>

#include "accelerate/base/error.h"

namespace accelerate::parallel {

using torch::autograd::variable_list;

namespace {

/// The newest GradientHooks of each parameter in this process.
class NewestHooks {
 public:
  static NewestHooks& of_process() {
    static auto& newest = *new NewestHooks();  // never destroyed: static models may outlive it
    return newest;
  }

  void add(const GradientHooks* hooks, const std::vector<NamedTensor>& parameters) {
    std::lock_guard lock(mutex_);
    for (const auto& parameter : parameters) by_parameter_[parameter.tensor.unsafeGetTensorImpl()] = hooks;
  }

  void remove(const GradientHooks* hooks) {
    std::lock_guard lock(mutex_);
    std::erase_if(by_parameter_, [&](const auto& entry) { return entry.second == hooks; });
  }

  /// Null if the newest ones were removed.
  const GradientHooks* find(const at::Tensor& parameter) {
    std::lock_guard lock(mutex_);
    const auto found = by_parameter_.find(parameter.unsafeGetTensorImpl());
    return found == by_parameter_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const at::TensorImpl*, const GradientHooks*> by_parameter_;
};

}  // namespace

class GradientHooks::Hook : public torch::autograd::FunctionPostHook {
 public:
  Hook(GradientHooks& hooks, size_t index) : gradient_hooks_(hooks), index_(index) {}

  variable_list operator()(const variable_list& outputs, const variable_list&) override {
    gradient_hooks_.note(index_);
    return outputs;
  }

 private:
  GradientHooks& gradient_hooks_;
  size_t index_;
};

GradientHooks::GradientHooks(std::vector<NamedTensor> parameters, Listener listener)
    : parameters_(std::move(parameters)), listener_(std::move(listener)) {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    auto accumulator = torch::autograd::impl::grad_accumulator(parameters_[i].tensor);
    auto hook = accumulator->add_post_hook(std::make_unique<Hook>(*this, i));
    hooks_.emplace_back(std::move(accumulator), hook);
  }
  NewestHooks::of_process().add(this, parameters_);
}

GradientHooks::~GradientHooks() {
  NewestHooks::of_process().remove(this);
  for (auto& [accumulator, hook] : hooks_) accumulator->del_post_hook(hook);
}

void GradientHooks::start() {
  listening_ = true;
  count_ = 0;
  arrived_.assign(parameters_.size(), false);
}

std::vector<std::string> GradientHooks::missing() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < arrived_.size(); ++i) {
    if (!arrived_[i]) names.push_back(parameters_[i].name);
  }
  return names;
}

bool GradientHooks::are_newest_of(const at::Tensor& parameter) const {
  const auto* newest = NewestHooks::of_process().find(parameter);
  return !newest || newest == this;
}

void GradientHooks::note(size_t index) {
  if (!listening_) listener_.on_unarmed(parameters_[index]);
  has_local_gradients_ |= !listening_;
  listener_.on_any(parameters_[index]);
  if (!listening_ || arrived_[index]) return;
  const auto& [name, parameter, sparse] = parameters_[index];
  if (parameter.grad().defined() && parameter.grad().is_sparse() != sparse) {
    fail("parameter '", name, "' has a ",
         sparse ? "dense gradient; another layer uses it too, so build its Embedding with sparse(false)"
                : "sparse gradient; ranks expect one only for torch::nn::Embedding and EmbeddingBag with sparse(true)");
  }
  arrived_[index] = true;
  if (count_++ == 0) listener_.on_first();
}

}  // namespace accelerate::parallel
