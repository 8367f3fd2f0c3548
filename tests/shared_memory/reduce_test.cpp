#include "accelerate/shared_memory/reduce.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/shared_memory/half.h"
#include "tests/shared_memory/numbers.h"

using namespace accelerate;
using namespace accelerate::shared_memory;
using tests::combine;
using tests::from_double;
using tests::to_double;

namespace {

/// Compares with the same reduction in double precision, up to the rounding of T. Small integers, so that nothing but
/// the average and floating products has to be rounded. Results go to all arrays, or to the first and to another one.
template <class T>
void check_reduction(DataType type, Reduction reduction, int ranks, size_t count, double tolerance, bool in_place) {
  std::mt19937 random(static_cast<unsigned>(count * 31 + ranks));
  std::vector<std::vector<T>> arrays(ranks, std::vector<T>(count));
  for (auto& array : arrays) {
    for (auto& element : array) element = from_double<T>(1 + random() % 2);
  }
  std::vector<double> expected(count);
  for (size_t i = 0; i < count; ++i) {
    expected[i] = to_double(arrays[0][i]);
    for (int rank = 1; rank < ranks; ++rank) expected[i] = combine(reduction, expected[i], to_double(arrays[rank][i]));
    if (reduction == Reduction::Average) expected[i] /= ranks;
  }
  std::vector<const std::byte*> sources;
  for (auto& array : arrays) sources.push_back(reinterpret_cast<const std::byte*>(array.data()));
  std::vector<T> another(count);
  std::vector<T*> targets{arrays[0].data()};
  if (!in_place) targets.push_back(another.data());
  for (int rank = 1; in_place && rank < ranks; ++rank) targets.push_back(arrays[rank].data());
  std::vector<std::byte*> target_bytes;
  for (auto* target : targets) target_bytes.push_back(reinterpret_cast<std::byte*>(target));
  reduce(type, reduction, sources, target_bytes, count);
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) {
    wrong += std::abs(to_double(arrays[0][i]) - expected[i]) > tolerance * std::abs(expected[i]);
    for (const auto* target : targets) wrong += std::memcmp(&arrays[0][i], &target[i], sizeof(T)) != 0;
  }
  CHECK_MESSAGE(wrong == 0, name_of(type), " ", name_of(reduction), " of ", ranks, " x ", count);
}

template <class T>
void check_type(DataType type, double tolerance = 0) {
  for (auto reduction : {Reduction::Sum, Reduction::Product, Reduction::Min, Reduction::Max, Reduction::Average}) {
    if (!can_reduce(type, reduction)) continue;
    for (int ranks : {1, 2, 3, 6}) {
      for (size_t count : {0, 1, 5, 63, 64, 65, 1025, 3000}) {
        check_reduction<T>(type, reduction, ranks, count, tolerance, /*in_place=*/false);
        check_reduction<T>(type, reduction, ranks, count, tolerance, /*in_place=*/true);
      }
    }
  }
}

template <class T>
void check_squares(DataType type, int ranks, size_t count) {
  std::mt19937 random(static_cast<unsigned>(count * 31 + ranks));
  std::normal_distribution<T> normal;
  std::vector<std::vector<T>> arrays(ranks, std::vector<T>(count));
  std::vector<const std::byte*> sources;
  for (auto& array : arrays) {
    for (auto& element : array) element = normal(random);
    sources.push_back(reinterpret_cast<const std::byte*>(array.data()));
  }
  std::vector<T> plain(count), with_squares(count);
  auto* target = reinterpret_cast<std::byte*>(plain.data());
  reduce(type, Reduction::Sum, sources, {&target, 1}, count);
  target = reinterpret_cast<std::byte*>(with_squares.data());
  double squares = reduce_with_squares(type, Reduction::Sum, sources, {&target, 1}, count);
  CHECK(plain == with_squares);
  for (auto level : vector_levels()) {
    CHECK(reduce_with_squares(type, Reduction::Sum, sources, {&target, 1}, count, level) == squares);
  }
  long double expected = 0;
  for (T value : plain) expected += static_cast<long double>(value) * value;
  CHECK(std::abs(static_cast<double>(squares - expected)) <= 1e-14 * static_cast<double>(expected));
}

/// Random bits, so that there are infinite numbers, very small ones and such as are not numbers. The latter keep their
/// kind, not their bits: which of two of them a sum becomes is up to the instruction.
template <class T>
void check_levels(DataType type) {
  constexpr size_t kCount = 1025;
  std::mt19937 random(static_cast<unsigned>(type));
  std::vector<std::vector<T>> arrays(3, std::vector<T>(kCount));
  for (auto& array : arrays) {
    auto* bytes = reinterpret_cast<unsigned char*>(array.data());
    std::generate(bytes, bytes + kCount * sizeof(T), [&] { return static_cast<unsigned char>(random()); });
  }
  auto reduced = [&](Reduction reduction, size_t ranks, VectorLevel level) {
    std::vector<std::vector<T>> copies(arrays.begin(), arrays.begin() + static_cast<std::ptrdiff_t>(ranks));
    std::vector<std::byte*> targets;
    for (auto& copy : copies) targets.push_back(reinterpret_cast<std::byte*>(copy.data()));
    const std::vector<const std::byte*> sources(targets.begin(), targets.end());
    reduce(type, reduction, sources, targets, kCount, level);
    return copies.back();
  };
  for (auto reduction : {Reduction::Sum, Reduction::Product, Reduction::Min, Reduction::Max, Reduction::Average,
                         Reduction::BitAnd, Reduction::BitOr, Reduction::BitXor}) {
    if (!can_reduce(type, reduction)) continue;
    for (size_t ranks : {2, 3}) {
      const auto plain = reduced(reduction, ranks, VectorLevel::Plain);
      for (auto level : vector_levels()) {
        const auto result = reduced(reduction, ranks, level);
        size_t wrong = 0;
        for (size_t i = 0; i < kCount; ++i) {
          const bool no_numbers = std::isnan(to_double(plain[i])) && std::isnan(to_double(result[i]));
          wrong += !no_numbers && std::memcmp(&plain[i], &result[i], sizeof(T)) != 0;
        }
        CHECK_MESSAGE(wrong == 0, name_of(type), " ", name_of(reduction), " at level ", static_cast<int>(level));
      }
    }
  }
}

template <class T>
T reduce_two(DataType type, Reduction reduction, T a, T b) {
  const std::byte* sources[] = {reinterpret_cast<std::byte*>(&a), reinterpret_cast<std::byte*>(&b)};
  std::byte* targets[] = {reinterpret_cast<std::byte*>(&a)};
  reduce(type, reduction, sources, targets, 1);
  return a;
}

}  // namespace

TEST_CASE("every type has its reductions, which agree with double precision") {
  check_type<uint8_t>(DataType::UInt8);
  check_type<uint16_t>(DataType::UInt16);
  check_type<uint32_t>(DataType::UInt32);
  check_type<uint64_t>(DataType::UInt64);
  check_type<int8_t>(DataType::Int8);
  check_type<int16_t>(DataType::Int16);
  check_type<int32_t>(DataType::Int32);
  check_type<int64_t>(DataType::Int64);
  check_type<Float16>(DataType::Float16, 0x1p-11);
  check_type<BFloat16>(DataType::BFloat16, 0x1p-8);
  check_type<float>(DataType::Float32, 0x1p-24);
  check_type<double>(DataType::Float64);
}

TEST_CASE("every set of vector instructions that the machine has gives the same bits") {
  check_levels<uint8_t>(DataType::UInt8);
  check_levels<uint16_t>(DataType::UInt16);
  check_levels<int32_t>(DataType::Int32);
  check_levels<int64_t>(DataType::Int64);
  check_levels<Float16>(DataType::Float16);
  check_levels<BFloat16>(DataType::BFloat16);
  check_levels<float>(DataType::Float32);
  check_levels<double>(DataType::Float64);
  MESSAGE(vector_levels().size(), " sets of instructions");
}

TEST_CASE("integers wrap around, bits are combined, and booleans stay booleans") {
  CHECK(reduce_two<int8_t>(DataType::Int8, Reduction::Sum, 127, 1) == -128);
  CHECK(reduce_two<int16_t>(DataType::Int16, Reduction::Product, -1, -1) == 1);
  CHECK(reduce_two<int32_t>(DataType::Int32, Reduction::Sum, std::numeric_limits<int32_t>::max(), 1) ==
        std::numeric_limits<int32_t>::min());
  CHECK(reduce_two<int32_t>(DataType::Int32, Reduction::BitAnd, 12, 10) == 8);
  CHECK(reduce_two<uint8_t>(DataType::UInt8, Reduction::BitOr, 12, 10) == 14);
  CHECK(reduce_two<int64_t>(DataType::Int64, Reduction::BitXor, 12, 10) == 6);
  for (bool a : {false, true}) {
    for (bool b : {false, true}) {
      CHECK(reduce_two<bool>(DataType::Bool, Reduction::Sum, a, b) == (a || b));
      CHECK(reduce_two<bool>(DataType::Bool, Reduction::Product, a, b) == (a && b));
      CHECK(reduce_two<bool>(DataType::Bool, Reduction::BitXor, a, b) == (a != b));
    }
  }
}

TEST_CASE("what is not a number stays visible in sums, minima and maxima") {
  float nan = std::numeric_limits<float>::quiet_NaN();
  for (auto reduction : {Reduction::Sum, Reduction::Min, Reduction::Max}) {
    CHECK(std::isnan(reduce_two<float>(DataType::Float32, reduction, nan, 1)));
    CHECK(std::isnan(reduce_two<float>(DataType::Float32, reduction, 1, nan)));
  }
}

TEST_CASE("halves are added up in float32: many small ones are not lost in a large one") {
  std::vector<BFloat16> values(8, from_double<BFloat16>(1.0 / 256));
  values[0] = from_double<BFloat16>(1);
  std::vector<const std::byte*> sources;
  for (auto& value : values) sources.push_back(reinterpret_cast<const std::byte*>(&value));
  BFloat16 sum{};
  auto* target = reinterpret_cast<std::byte*>(&sum);
  reduce(DataType::BFloat16, Reduction::Sum, sources, {&target, 1}, 1);
  CHECK(to_double(sum) == from_double<float>(to_double(from_double<BFloat16>(1 + 7.0 / 256))));
  CHECK(to_double(sum) > 1.02);
}

TEST_CASE("the sum of squares is that of the results, which are those without it") {
  for (int ranks : {1, 2, 3}) {
    for (size_t count : {0, 1, 15, 16, 17, 1023, 1024, 1025, 5000}) {
      check_squares<float>(DataType::Float32, ranks, count);
      check_squares<double>(DataType::Float64, ranks, count);
    }
  }
  CHECK_FALSE(has_squares(DataType::BFloat16, Reduction::Sum));
  CHECK_FALSE(has_squares(DataType::Float32, Reduction::Max));
}

TEST_CASE("every float16 has its value, and floats become the nearest float16") {
  int wrong = 0;
  for (int bits = 0; bits < 0x10000; ++bits) {
    Float16 half{static_cast<uint16_t>(bits)};
    int exponent = bits >> 10 & 31;
    int fraction = bits & 1023;
    double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                       : exponent == 31 ? (fraction ? NAN : INFINITY)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    double expected = bits & 0x8000 ? -magnitude : magnitude;
    if (std::isnan(expected)) {
      wrong += !std::isnan(widen(half));
      continue;
    }
    wrong += widen(half) != static_cast<float>(expected);
    Float16 back{};
    narrow(widen(half), back);
    wrong += back.bits != half.bits;

    // Halfway to the next, which goes to the even one, and a little less and more than that.
    if (exponent == 31 || (bits & 0x7fff) == 0x7bff) continue;
    Float16 next{static_cast<uint16_t>(bits + 1)};
    float middle = (widen(half) + widen(next)) / 2;
    Float16 rounded{};
    narrow(middle, rounded);
    wrong += rounded.bits != (bits % 2 == 0 ? half : next).bits;
    narrow(std::nextafter(middle, widen(half)), rounded);
    wrong += rounded.bits != half.bits;
    narrow(std::nextafter(middle, widen(next)), rounded);
    wrong += rounded.bits != next.bits;
  }
  CHECK(wrong == 0);
  CHECK(from_double<Float16>(65519).bits == 0x7bff);
  CHECK(from_double<Float16>(65520).bits == 0x7c00);
  CHECK(from_double<Float16>(NAN).bits == 0x7e00);
}

TEST_CASE("a reduction that a type does not have is refused") {
  CHECK_THROWS_WITH_AS(reduce_two<float>(DataType::Float32, Reduction::BitAnd, 1, 1),
                       doctest::Contains("float32 have no reduction 'and'"), Error);
  CHECK_FALSE(can_reduce(DataType::Other, Reduction::Sum));
  CHECK_FALSE(can_reduce(DataType::Bool, Reduction::Average));
}
