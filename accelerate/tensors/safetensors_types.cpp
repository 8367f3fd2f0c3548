#include "accelerate/tensors/safetensors_types.h"

#include <array>
#include <utility>

#include "accelerate/base/error.h"

namespace accelerate::tensors {

namespace {

constexpr auto kTypes = std::to_array<std::pair<at::ScalarType, std::string_view>>({
    {at::kFloat, "F32"},
    {at::kHalf, "F16"},
    {at::kBFloat16, "BF16"},
    {at::kDouble, "F64"},
    {at::kLong, "I64"},
    {at::kInt, "I32"},
    {at::kShort, "I16"},
    {at::kChar, "I8"},
    {at::kByte, "U8"},
    {at::kUInt16, "U16"},
    {at::kUInt32, "U32"},
    {at::kUInt64, "U64"},
    {at::kBool, "BOOL"},
    {at::kComplexFloat, "C64"},
    {at::kFloat8_e4m3fn, "F8_E4M3"},
    {at::kFloat8_e5m2, "F8_E5M2"},
    {at::kFloat8_e8m0fnu, "F8_E8M0"},
    {at::kFloat8_e4m3fnuz, "F8_E4M3FNUZ"},
    {at::kFloat8_e5m2fnuz, "F8_E5M2FNUZ"},
});

}  // namespace

std::string_view safetensors_name_of(at::ScalarType type, const std::string& tensor) {
  for (const auto& [scalar_type, name] : kTypes) {
    if (scalar_type == type) return name;
  }
  fail("safetensors: '", tensor, "' has the type ", c10::toString(type), ", which the format does not support");
}

at::ScalarType scalar_type_of(std::string_view dtype, const std::string& source) {
  for (const auto& [scalar_type, name] : kTypes) {
    if (name == dtype) return scalar_type;
  }
  fail(source, ": tensors of type ", dtype, " are not supported by libtorch");
}

}  // namespace accelerate::tensors
