#include "accelerate/tensors/nest.h"

#include <ATen/ops/cat.h>

namespace accelerate::tensors {

at::Tensor concatenate_tensors(const std::vector<at::Tensor>& parts, int64_t dim) { return at::cat(parts, dim); }

}  // namespace accelerate::tensors
