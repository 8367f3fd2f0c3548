#pragma once

// What a pickle says about a checkpoint: plain values, and tensors as references to bytes that lie elsewhere in the
// file.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "accelerate/formats/value.h"

namespace accelerate::formats {

/// A tensor as a pickle has it: which elements of which storage. Several may refer to one storage.
struct TensorReference {
  std::string storage = {};    // its key; the bytes are in the record data/<key>
  uint64_t storage_bytes = 0;  // of the whole storage
  std::string dtype = {};      // as torch calls it: "float32"
  int64_t offset = 0;          // of the first element, in elements
  std::vector<int64_t> sizes = {};
  std::vector<int64_t> strides = {};  // in elements
  bool requires_grad = false;

  bool operator==(const TensorReference&) const = default;
};

using PickleValue = Value<TensorReference>;

/// How pickles name a type of elements.
struct PickleType {
  std::string_view dtype;    // "float32"
  std::string_view storage;  // "FloatStorage"; empty for the younger types, which have untyped storages
  int bytes;                 // of one element
};

/// The type that torch calls `dtype`, or nullptr.
const PickleType* pickle_type_of(std::string_view dtype);
/// The type of which storages are called `storage`, or nullptr.
const PickleType* pickle_type_of_storage(std::string_view storage);

}  // namespace accelerate::formats
