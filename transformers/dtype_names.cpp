#include "transformers/dtype_names.h"

#include <array>
#include <utility>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"

namespace transformers {

namespace {

constexpr auto kTypeNames = std::to_array<std::pair<at::ScalarType, std::string_view>>(
    {{at::kFloat, "float32"}, {at::kDouble, "float64"}, {at::kHalf, "float16"}, {at::kBFloat16, "bfloat16"}});

}  // namespace

std::string python_name_of(at::ScalarType type) {
  for (const auto& [known, name] : kTypeNames) {
    if (known == type) return std::string(name);
  }
  accelerate::fail("a model of type ", c10::toString(type), " cannot be written to a configuration");
}

at::ScalarType type_called(std::string_view python_name) {
  for (const auto& [type, name] : kTypeNames) {
    if (name == python_name) return type;
  }
  accelerate::fail("dtype is '", python_name, "'; it can be ", accelerate::listed(type_names(), " or "));
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const auto& [type, name] : kTypeNames) names.emplace_back(name);
  return names;
}

}  // namespace transformers
