#pragma once

// The names that safetensors files give to libtorch's types.

#include <string>
#include <string_view>

#include <c10/core/ScalarType.h>

namespace accelerate::tensors {

/// "F32" for float and so on; throws Error naming `tensor` for a type that the format does not have.
std::string_view safetensors_name_of(at::ScalarType type, const std::string& tensor);

/// The type called "F32"; throws Error naming `source` for one that libtorch does not have.
at::ScalarType scalar_type_of(std::string_view dtype, const std::string& source);

}  // namespace accelerate::tensors
