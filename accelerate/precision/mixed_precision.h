#pragma once

// The precisions of mixed-precision training; parameters stay in float32.

#include <string_view>

namespace accelerate::precision {

enum class MixedPrecision { No, Fp16, Bf16 };

/// Parses `no`, `fp16` or `bf16`, case-insensitively. Throws Error with these values for anything else.
MixedPrecision parse_mixed_precision(std::string_view text);

/// `no`, `fp16` or `bf16`.
std::string_view to_string(MixedPrecision precision);

}  // namespace accelerate::precision

namespace accelerate {
using precision::MixedPrecision;
}
