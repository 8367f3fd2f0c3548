#include "accelerate/comm/random.h"

#include <torch/cuda.h>
#include <torch/utils.h>

#include "accelerate/base/error.h"
#include "accelerate/comm/partial_state.h"
#include "accelerate/comm/process_environment.h"

namespace accelerate::comm {

namespace {

int rank_of_process() {
  return PartialState::initialized() ? PartialState().process_index() : read_process_environment().rank;
}

}  // namespace

void set_seed(uint64_t seed, const SeedOptions& options) {
  if (options.device_specific) seed += static_cast<uint64_t>(rank_of_process());
  torch::manual_seed(seed);
  if (options.deterministic) at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
}

void synchronize_rng_state(at::Generator& generator, const Group& group) {
  if (group.size() == 1) return;
  if (!generator.defined()) fail("synchronize_rng_states: there is no generator to synchronise; pass one");
  auto state = generator.get_state().contiguous();
  group.broadcast(state);
  generator.set_state(state);
}

void synchronize_rng_states(const std::vector<std::string>& kinds, const Group& group, at::Generator generator) {
  for (const auto& kind : kinds) {
    if (kind == "torch") {
      auto cpu = at::detail::getDefaultCPUGenerator();
      synchronize_rng_state(cpu, group);
    } else if (kind == "cuda") {
      if (!torch::cuda::is_available()) continue;
      auto cuda = at::globalContext().defaultGenerator(at::Device(at::kCUDA));
      synchronize_rng_state(cuda, group);
    } else if (kind == "generator") {
      synchronize_rng_state(generator, group);
    } else {
      fail("rng_types has '", kind, "'; it can have torch, cuda and generator");
    }
  }
}

}  // namespace accelerate::comm
