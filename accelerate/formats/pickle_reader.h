#pragma once

// Reads pickles without running them. A pickle is a program for Python's unpickler that can name any function; this
// reader knows the instructions that make plain values and tensors, and refuses the rest.

#include <cstddef>
#include <string>
#include <string_view>

#include "accelerate/formats/pickle.h"

namespace accelerate::formats {

/// The value of a pickle of protocol 2 to 5. Attributes of an OrderedDict are left out, a defaultdict or Counter is a
/// dict, numpy's scalars are numbers. Throws Error naming `source` for an instruction or a global that is not on the
/// list (naming it), for a value that contains itself, for tensors that reach outside of their storage, and for pickles
/// that would take far more memory than they have bytes. `bytes` has to end with the pickle, unless `length` is given,
/// which gets the length of the pickle.
PickleValue read_pickle(std::string_view bytes, const std::string& source, size_t* length = nullptr);

}  // namespace accelerate::formats
