#pragma once

// Writes values as pickles that Python reads with `torch.load(..., weights_only=True)`.

#include <string>

#include "accelerate/formats/pickle.h"

namespace accelerate::formats {

/// The pickle (protocol 2) of a value. Tensors become references to their storages, whose bytes the caller puts beside
/// it. Numpy arrays need Python's Accelerate to read them, which allows them in its own `load`. Throws Error for what
/// weights_only does not accept: integers of more than 255 bytes and texts of more than 4 GiB.
std::string write_pickle(const PickleValue& value);

}  // namespace accelerate::formats
