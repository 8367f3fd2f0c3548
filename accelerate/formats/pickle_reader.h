#pragma once

// Reads pickles without executing them. A pickle is a program for Python's unpickler that can name any function. This
// reader supports the opcodes for plain values and tensors and refuses all others.

#include <cstddef>
#include <string>
#include <string_view>

#include "accelerate/formats/pickle.h"

namespace accelerate::formats {

/// The value of a pickle of protocol 2 to 5. Drops attributes of an OrderedDict, reads a defaultdict or Counter as a
/// dict and numpy scalars as numbers. Throws Error naming `source` for an opcode or global that is not on the list
/// (naming it), for a value that contains itself, for tensors that exceed their storage, and for pickles that would
/// need far more memory than their size. `bytes` must end with the pickle unless `length` is given, which receives the
/// length of the pickle.
PickleValue read_pickle(std::string_view bytes, const std::string& source, size_t* length = nullptr);

}  // namespace accelerate::formats
