#include "accelerate/parallel/arrivals.h"

#include <torch/autograd.h>

#include "accelerate/base/error.h"

namespace accelerate::parallel {

using torch::autograd::variable_list;

class Arrivals::Hook : public torch::autograd::FunctionPostHook {
 public:
  Hook(Arrivals& arrivals, size_t index) : arrivals_(arrivals), index_(index) {}

  variable_list operator()(const variable_list& outputs, const variable_list&) override {
    arrivals_.note(index_);
    return outputs;
  }

 private:
  Arrivals& arrivals_;
  size_t index_;
};

Arrivals::Arrivals(std::vector<NamedTensor> parameters, Listener listener)
    : parameters_(std::move(parameters)), listener_(std::move(listener)) {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    auto accumulator = torch::autograd::impl::grad_accumulator(parameters_[i].tensor);
    auto hook = accumulator->add_post_hook(std::make_unique<Hook>(*this, i));
    hooks_.emplace_back(std::move(accumulator), hook);
  }
}

Arrivals::~Arrivals() {
  for (auto& [accumulator, hook] : hooks_) accumulator->del_post_hook(hook);
}

void Arrivals::start() {
  listening_ = true;
  count_ = 0;
  arrived_.assign(parameters_.size(), false);
}

std::vector<std::string> Arrivals::missing() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < arrived_.size(); ++i) {
    if (!arrived_[i]) names.push_back(parameters_[i].name);
  }
  return names;
}

void Arrivals::note(size_t index) {
  if (!listening_) listener_.on_unheard(parameters_[index]);
  any_unheard_ |= !listening_;
  listener_.on_any(parameters_[index]);
  if (!listening_ || arrived_[index]) return;
  const auto& [name, parameter, sparse] = parameters_[index];
  if (parameter.grad().defined() && parameter.grad().is_sparse() != sparse) {
    fail("parameter '", name, "' has a ",
         sparse ? "dense gradient; another layer uses it too, so build its Embedding with sparse(false)"
                : "sparse gradient; ranks expect that of torch::nn::Embedding and EmbeddingBag with sparse(true) only");
  }
  arrived_[index] = true;
  if (count_++ == 0) listener_.on_first();
}

}  // namespace accelerate::parallel
