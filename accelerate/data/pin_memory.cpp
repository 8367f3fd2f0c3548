#include "accelerate/data/pin_memory.h"

#include <torch/cuda.h>

namespace accelerate::data {

bool can_pin_memory() { return torch::cuda::is_available(); }

at::Tensor pinned(const at::Tensor& tensor) { return tensor.pin_memory(); }

}  // namespace accelerate::data
