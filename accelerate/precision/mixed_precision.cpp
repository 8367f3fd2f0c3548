#include "accelerate/precision/mixed_precision.h"

#include <string>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"

namespace accelerate::precision {

MixedPrecision parse_mixed_precision(std::string_view text) {
  const auto name = lower_case(std::string(text));
  for (auto precision : {MixedPrecision::No, MixedPrecision::Fp16, MixedPrecision::Bf16}) {
    if (name == to_string(precision)) return precision;
  }
  const char* reason = name == "fp8" ? " (libtorch has no fp8 layers)" : "";
  fail("mixed_precision is '", text, "'", reason, "; it can be no, fp16 or bf16");
}

std::string_view to_string(MixedPrecision precision) {
  switch (precision) {
    case MixedPrecision::Fp16:
      return "fp16";
    case MixedPrecision::Bf16:
      return "bf16";
    case MixedPrecision::No:
      break;
  }
  return "no";
}

}  // namespace accelerate::precision
