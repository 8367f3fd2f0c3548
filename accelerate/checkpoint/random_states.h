#pragma once

// The random generators of one process, in the form of Python's random_states_N.pkl.

#include <functional>

#include "accelerate/checkpoint/python_generators.h"

namespace accelerate::checkpoint {

/// What the file holds: `step`, Python's generators, libtorch's on the CPU and on each CUDA device.
tensors::TorchValue random_states(int64_t step, const PythonGenerators& python);

/// A file that was read and makes sense.
struct CheckedRandomStates {
  int64_t step = 0;
  PythonGenerators python = {};
  std::function<void()> restore = {};  // sets libtorch's generators
};

/// Throws Error telling what is wrong; nothing changes before restore() is called. The states of CUDA devices that
/// there are not are passed over.
CheckedRandomStates checked_random_states(const tensors::TorchValue& states);

/// For a rank that the saved run did not have: a seed of its own, made of the seed of `states` and the rank.
CheckedRandomStates random_states_of_new_rank(const tensors::TorchValue& states, int rank);

}  // namespace accelerate::checkpoint
