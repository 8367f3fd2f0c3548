#pragma once

// The options of data parallelism: how gradients are put into buckets and sent between ranks.

#include <optional>
#include <string>
#include <vector>

#include "accelerate/parallel/power_sgd.h"

namespace accelerate::parallel {

struct NamedTensor;

/// How gradients are sent between ranks: as they are, in half precision, or compressed. Python's
/// DDPCommunicationHookType. For custom functions see register_comm_hook().
enum class CommHook { No, Fp16, Bf16, PowerSGD, BatchedPowerSGD };

struct DistributedDataParallelKwargs {
  bool broadcast_buffers = true;        // broadcast rank 0's buffers between training steps
  double bucket_cap_mb = 25;            // size of a bucket in MiB; the first has at most 1
  bool find_unused_parameters = false;  // a loss may leave parameters out; traverses the graph in each step
  // Gradients are views of the buckets. Saves a copy, but a gradient kept from an earlier step changes. Default: on if
  // ranks share memory.
  std::optional<bool> gradient_as_bucket_view = std::nullopt;
  bool static_graph = false;  // every step uses the same parameters, equally often
  CommHook comm_hook = CommHook::No;
  CommHook comm_wrapper = CommHook::No;    // Fp16 or Bf16: the type in which comm_hook gets gradients
  PowerSGDOptions comm_state_option = {};  // for PowerSGD and BatchedPowerSGD
};

/// One line with the options that all ranks must have in common.
std::string describe(const DistributedDataParallelKwargs& kwargs);

/// Throws Error if the hooks of `kwargs` exclude each other, or cannot reduce the gradients of `trainable`.
void check_hooks(const DistributedDataParallelKwargs& kwargs, const std::vector<NamedTensor>& trainable);

}  // namespace accelerate::parallel

namespace accelerate {
using parallel::CommHook;
using DDPCommunicationHookType = parallel::CommHook;
using parallel::DistributedDataParallelKwargs;
}  // namespace accelerate
