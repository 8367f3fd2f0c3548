#include "accelerate/precision/mixed_precision.h"

#include <doctest/doctest.h>

#include "accelerate/base/error.h"

using namespace accelerate;
using namespace accelerate::precision;

TEST_CASE("a precision is read in any case and written in lower case") {
  CHECK(parse_mixed_precision("no") == MixedPrecision::No);
  CHECK(parse_mixed_precision("FP16") == MixedPrecision::Fp16);
  CHECK(parse_mixed_precision("Bf16") == MixedPrecision::Bf16);
  CHECK(to_string(MixedPrecision::No) == "no");
  CHECK(to_string(MixedPrecision::Fp16) == "fp16");
  CHECK(to_string(MixedPrecision::Bf16) == "bf16");
}

TEST_CASE("an unknown precision is an error that lists the known ones") {
  CHECK_THROWS_WITH_AS(parse_mixed_precision("fp12"), "mixed_precision is 'fp12'; it can be no, fp16 or bf16", Error);
  CHECK_THROWS_WITH_AS(parse_mixed_precision(""), "mixed_precision is ''; it can be no, fp16 or bf16", Error);
  CHECK_THROWS_WITH_AS(parse_mixed_precision("fp8"), doctest::Contains("it can be no, fp16 or bf16"), Error);
}
