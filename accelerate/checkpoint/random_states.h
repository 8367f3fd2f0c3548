#pragma once

// The random states of one process, in the format of Python's random_states_N.pkl.

#include <functional>

#include "accelerate/checkpoint/python_generators.h"

namespace accelerate::checkpoint {

/// Returns the contents of the file: `step`, and the states of Python's generators and of libtorch's on the CPU and
/// each CUDA device.
tensors::TorchValue random_states(int64_t step, const PythonGenerators& python);

/// A file that was read and is valid.
struct CheckedRandomStates {
  int64_t step = 0;
  PythonGenerators python = {};
  std::function<void()> restore = {};  // sets libtorch's generators
};

/// Checks the contents of a file. Throws Error if a state is missing or invalid; nothing changes before restore() is
/// called. States of CUDA devices that this machine does not have are ignored.
CheckedRandomStates checked_random_states(const tensors::TorchValue& states);

/// For a rank that the saved run did not have: a seed derived from the seed of `states` and the rank.
CheckedRandomStates random_states_of_new_rank(const tensors::TorchValue& states, int rank);

}  // namespace accelerate::checkpoint
