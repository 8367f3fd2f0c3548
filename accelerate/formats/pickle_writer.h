#pragma once

// Writes pickles that Python reads with `torch.load(..., weights_only=True)`.

#include <string>

#include "accelerate/formats/pickle.h"

namespace accelerate::formats {

/// The pickle (protocol 2) of a value. Tensors become references to their storages; the caller stores the bytes of
/// these. Numpy arrays can only be read by Python's Accelerate, because its own `load` allows them. Throws Error for
/// values that weights_only does not accept: integers of more than 255 bytes and texts of more than 4 GiB.
std::string write_pickle(const PickleValue& value);

}  // namespace accelerate::formats
