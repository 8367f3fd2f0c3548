#pragma once

// Maps libtorch's types to their names in safetensors files.

#include <string>
#include <string_view>

#include <c10/core/ScalarType.h>

namespace accelerate::tensors {

/// Returns "F32" for float and so on. Throws Error naming `tensor` for a type that the format does not have.
std::string_view safetensors_name_of(at::ScalarType type, const std::string& tensor);

/// Returns the type called "F32" and so on. Throws Error naming `source` for a type that libtorch does not have.
at::ScalarType scalar_type_of(std::string_view dtype, const std::string& source);

}  // namespace accelerate::tensors
