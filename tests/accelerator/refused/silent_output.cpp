// A model that returns a struct with tensors, which does not say which.

#include "accelerate/accelerator.h"

struct SilentOutput {
  torch::Tensor logits;
};

struct SilentNet : torch::nn::Module {
  SilentOutput forward(const torch::Tensor& x) { return {x}; }
};

void call_silent_net(accelerate::Accelerator& accelerator) {
  auto model = accelerator.prepare(std::make_shared<SilentNet>());
  model(torch::Tensor());
}
