#pragma once

// Reads and writes the pickles in checkpoints: plain values, and tensors as references to bytes elsewhere in the file.
// A pickle is a program for Python's unpickler that can name any function. This reader never calls one: it supports the
// opcodes for plain values and tensors and refuses all others. libtorch's own unpickler needs torch, builds TorchScript
// values, and does not bound the memory that a hostile file asks for.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "accelerate/formats/pickle/value.h"

namespace accelerate::formats {

/// A tensor in a pickle: a strided view of a storage. Several tensors may share a storage.
struct TensorReference {
  std::string storage = {};    // its key; the bytes are in the record data/<key>
  uint64_t storage_bytes = 0;  // of the whole storage
  std::string dtype = {};      // torch's name: "float32"
  int64_t offset = 0;          // of the first element, in elements
  std::vector<int64_t> sizes = {};
  std::vector<int64_t> strides = {};  // in elements
  bool requires_grad = false;

  bool operator==(const TensorReference&) const = default;
};

using PickleValue = Value<TensorReference>;

/// The names of an element type in pickles.
struct PickleType {
  std::string_view dtype;    // "float32"
  std::string_view storage;  // "FloatStorage"; empty for newer types, which have untyped storages
  int bytes;                 // per element
};

/// The type with torch's name `dtype`, or nullptr.
const PickleType* pickle_type_of(std::string_view dtype);
/// The type with the storage class `storage`, or nullptr.
const PickleType* pickle_type_of_storage(std::string_view storage);

/// The value of a pickle of protocol 2 to 5. Drops attributes of an OrderedDict, reads a defaultdict or Counter as a
/// dict and numpy scalars as numbers. Throws Error naming `source` for an opcode or global that is not on the list
/// (naming it), for a value that contains itself, for tensors that exceed their storage, and for pickles that would
/// need far more memory than their size. `bytes` must end with the pickle unless `length` is given, which receives the
/// length of the pickle.
PickleValue read_pickle(std::string_view bytes, const std::string& source, size_t* length = nullptr);

/// The pickle (protocol 2) of a value, for `torch.load(..., weights_only=True)`. Tensors become references to their
/// storages; the caller stores the bytes of these. Numpy arrays can only be read by Python's Accelerate, because its
/// own `load` allows them. Throws Error for values that weights_only does not accept: integers of more than 255 bytes
/// and texts of more than 4 GiB.
std::string write_pickle(const PickleValue& value);

}  // namespace accelerate::formats
