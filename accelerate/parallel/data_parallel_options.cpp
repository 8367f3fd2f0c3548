#include "accelerate/parallel/data_parallel_options.h"

#include <sstream>

#include "accelerate/base/error.h"
#include "accelerate/parallel/named_tensor.h"

namespace accelerate::parallel {

namespace {

bool uses_power_sgd(const DistributedDataParallelKwargs& kwargs) {
  return kwargs.comm_hook == CommHook::PowerSGD || kwargs.comm_hook == CommHook::BatchedPowerSGD;
}

}  // namespace

std::string describe(const DistributedDataParallelKwargs& kwargs) {
  std::ostringstream line;
  line << "options broadcast_buffers=" << kwargs.broadcast_buffers << " bucket_cap_mb=" << kwargs.bucket_cap_mb
       << " find_unused_parameters=" << kwargs.find_unused_parameters << " static_graph=" << kwargs.static_graph
       << " comm_hook=" << static_cast<int>(kwargs.comm_hook)
       << " comm_wrapper=" << static_cast<int>(kwargs.comm_wrapper);
  if (!uses_power_sgd(kwargs)) return line.str();
  const auto& state = kwargs.comm_state_option;
  line << " matrix_approximation_rank=" << state.matrix_approximation_rank
       << " start_powerSGD_iter=" << state.start_powerSGD_iter << " min_compression_rate=" << state.min_compression_rate
       << " use_error_feedback=" << state.use_error_feedback << " warm_start=" << state.warm_start
       << " orthogonalization_epsilon=" << state.orthogonalization_epsilon << " random_seed=" << state.random_seed
       << " batch_tensors_with_same_shape=" << state.batch_tensors_with_same_shape;
  return line.str();
}

void check_hooks(const DistributedDataParallelKwargs& kwargs, const std::vector<NamedTensor>& trainable) {
  if (kwargs.comm_wrapper != CommHook::No && kwargs.comm_wrapper != CommHook::Fp16 &&
      kwargs.comm_wrapper != CommHook::Bf16) {
    fail("comm_wrapper is a PowerSGD hook; it can be CommHook::No, Fp16 or Bf16. PowerSGD is a comm_hook");
  }
  if (!uses_power_sgd(kwargs)) return;
  for (const auto& parameter : trainable) {
    if (!parameter.sparse_gradient) continue;
    fail("the comm_hook is PowerSGD, which does not compress sparse gradients, and '", parameter.name,
         "' has one; make the embedding dense, or use another comm_hook");
  }
}

}  // namespace accelerate::parallel
