#include "accelerate/checkpoint/random_states.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/cuda.h>
#include <torch/utils.h>

#include "accelerate/base/error.h"

namespace accelerate::checkpoint {
namespace {

using tensors::TorchValue;

const std::string kCpu = "torch_manual_seed";
const std::string kCuda = "torch_cuda_manual_seed";

at::Generator cuda_generator(size_t device) {
  return at::globalContext().defaultGenerator(at::Device(at::kCUDA, static_cast<at::DeviceIndex>(device)));
}

/// A generator of the CPU in the given state. libtorch checks the bytes, but only as it takes them.
at::Generator generator_of(const TorchValue& states) {
  const auto& state = states.at(kCpu).tensor();
  auto generator = at::detail::createCPUGenerator();
  try {
    generator.set_state(state);
  } catch (const c10::Error& error) {
    fail("'", kCpu, "' is not the state of a generator: ", error.what_without_backtrace());
  }
  return generator;
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
  if (const auto* step = states.find("step")) checked.step = step->integer();  // folders of Accelerate < 0.30 have none
  checked.python = {states.at("random_state"), states.at("numpy_random_seed")};
  auto cpu = generator_of(states);
  std::vector<at::Tensor> devices;
  if (const auto* saved = states.find(kCuda)) {
    for (const auto& state : saved->items()) devices.push_back(state.tensor());
  }
  checked.restore = [cpu, devices]() mutable {
    auto generator = at::detail::getDefaultCPUGenerator();
    generator.set_state(cpu.get_state());
    for (size_t i = 0; i < std::min<size_t>(devices.size(), torch::cuda::device_count()); ++i) {
      cuda_generator(i).set_state(devices[i]);
    }
  };
  return checked;
}

CheckedRandomStates random_states_of_new_rank(const TorchValue& states, int rank) {
  auto checked = checked_random_states(states);
  const uint64_t seed = generator_of(states).current_seed() + static_cast<uint64_t>(rank);
  checked.python = seeded_python_generators(seed);
  checked.restore = [seed] { torch::manual_seed(seed); };
  return checked;
}

}  // namespace accelerate::checkpoint
