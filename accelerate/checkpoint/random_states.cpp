#include "accelerate/checkpoint/random_states.h"

#include <algorithm>
#include <string>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/cuda.h>
#include <torch/utils.h>

#include "accelerate/base/error.h"
#include "accelerate/data/generators.h"

namespace accelerate::checkpoint {
namespace {

using tensors::TorchValue;

const std::string kCpu = "torch_manual_seed";
const std::string kCuda = "torch_cuda_manual_seed";

at::Generator cuda_generator(size_t device) {
  return at::globalContext().defaultGenerator(at::Device(at::kCUDA, static_cast<at::DeviceIndex>(device)));
}

/// Sets a new or cloned `generator` to the state and returns it.
at::Generator in_state(at::Generator generator, const TorchValue& state, const std::string& name) {
  data::set_checked_state(generator, state.tensor(), name);
  return generator;
}

at::Generator cpu_generator_of(const TorchValue& states) {
  return in_state(at::detail::createCPUGenerator(), states.at(kCpu), kCpu);
}

/// Only for devices that this machine has.
std::vector<at::Generator> cuda_generators_of(const TorchValue& states) {
  std::vector<at::Generator> generators;
  const auto* saved = states.find(kCuda);
  if (!saved) return generators;
  const auto num_devices = std::min<size_t>(saved->items().size(), torch::cuda::device_count());
  for (size_t i = 0; i < num_devices; ++i) {
    generators.push_back(in_state(cuda_generator(i).clone(), saved->items()[i], kCuda));
  }
  return generators;
}

}  // namespace

TorchValue random_states(int64_t step, const PythonGenerators& python) {
  auto states = TorchValue::dict({{"step", step},
                                  {"random_state", python.random},
                                  {"numpy_random_seed", python.numpy},
                                  {kCpu, at::detail::getDefaultCPUGenerator().get_state()}});
  if (const auto num_devices = torch::cuda::device_count(); num_devices > 0) {
    auto devices = TorchValue::list();
    for (size_t i = 0; i < num_devices; ++i) devices.items().emplace_back(cuda_generator(i).get_state());
    states.entries().emplace_back(kCuda, std::move(devices));
  }
  return states;
}

CheckedRandomStates checked_random_states(const TorchValue& states) {
  CheckedRandomStates checked;
  if (const auto* step = states.find("step")) checked.step = step->integer();  // missing before Accelerate 0.30
  checked.python = {states.at("random_state"), states.at("numpy_random_seed")};
  checked.restore = [cpu = cpu_generator_of(states), devices = cuda_generators_of(states)]() {
    auto generator = at::detail::getDefaultCPUGenerator();
    generator.set_state(cpu.get_state());
    for (size_t i = 0; i < devices.size(); ++i) cuda_generator(i).set_state(devices[i].get_state());
  };
  return checked;
}

CheckedRandomStates random_states_of_new_rank(const TorchValue& states, int rank) {
  auto checked = checked_random_states(states);
  const uint64_t seed = cpu_generator_of(states).current_seed() + static_cast<uint64_t>(rank);
  checked.python = seeded_python_generators(seed);
  checked.restore = [seed] { torch::manual_seed(seed); };
  return checked;
}

}  // namespace accelerate::checkpoint
