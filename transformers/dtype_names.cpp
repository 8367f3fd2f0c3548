#include "transformers/dtype_names.h"

#include <array>
#include <utility>

#include "accelerate/base/error.h"

namespace transformers {

namespace {

constexpr auto kTypeNames = std::to_array<std::pair<at::ScalarType, std::string_view>>(
    {{at::kFloat, "float32"}, {at::kDouble, "float64"}, {at::kHalf, "float16"}, {at::kBFloat16, "bfloat16"}});

}  // namespace

std::string python_name_of(at::ScalarType type) {
  for (const auto& [known, name] : kTypeNames) {
    if (known == type) return std::string(name);
  }
  accelerate::fail("a model of type ", c10::toString(type), " has no name in a configuration");
}

at::ScalarType type_called(std::string_view python_name) {
  for (const auto& [type, name] : kTypeNames) {
    if (name == python_name) return type;
  }
  accelerate::fail("config.json: dtype is '", python_name, "'; it can be float32, float64, float16 or bfloat16");
}

}  // namespace transformers
