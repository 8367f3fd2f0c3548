#pragma once

// Python's own random generators, `random` and numpy's. Nothing here draws from them; they are in a checkpoint because
// Python restores none of its generators unless all are there.

#include <cstdint>

#include "accelerate/tensors/torch_file.h"

namespace accelerate::checkpoint {

/// Their states: what `random.getstate()` and `numpy.random.get_state()` give.
struct PythonGenerators {
  tensors::TorchValue random;
  tensors::TorchValue numpy;
};

/// As Python's `set_seed(seed)` leaves them; numpy takes the low 32 bits.
PythonGenerators seeded_python_generators(uint64_t seed);

}  // namespace accelerate::checkpoint
