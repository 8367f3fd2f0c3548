#pragma once

// The states of Python's generators, `random` and numpy. Nothing here draws from them. Checkpoints hold them because
// Python restores none of its generators unless all are present.

#include <cstdint>

#include "accelerate/tensors/torch_file.h"

namespace accelerate::checkpoint {

/// The results of `random.getstate()` and `numpy.random.get_state()`.
struct PythonGenerators {
  tensors::TorchValue random;
  tensors::TorchValue numpy;
};

/// Returns the states after Python's `set_seed(seed)`. numpy uses the low 32 bits of the seed.
PythonGenerators seeded_python_generators(uint64_t seed);

}  // namespace accelerate::checkpoint
