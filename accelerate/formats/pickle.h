#pragma once

// The content of a checkpoint's pickle: plain values, and tensors as references to bytes elsewhere in the file.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "accelerate/formats/value.h"

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

}  // namespace accelerate::formats
