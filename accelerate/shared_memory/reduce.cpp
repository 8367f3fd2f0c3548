#include "accelerate/shared_memory/reduce.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <type_traits>

#include "accelerate/base/error.h"
#include "accelerate/shared_memory/half.h"

// The loops are compiled once for each set of vector instructions, and the machine chooses. Not by target_clones, which
// does not apply to templates under clang and does not let a test choose the instructions.
#if defined(__x86_64__)
#define ACCELERATE_VECTOR_CLONES 1
#else
#define ACCELERATE_VECTOR_CLONES 0
#endif
#define ACCELERATE_INLINE __attribute__((always_inline)) inline

namespace accelerate::shared_memory {

namespace {

constexpr size_t kBlock = 64;  // elements reduced at a time: few, so that all sources are read concurrently
constexpr size_t kLanes = 16;  // independent partial sums of squares

template <class T>
constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// The accumulator type for elements of type T.
template <class T>
struct Sum {
  using Type = T;
};
template <class T>
  requires is_half<T>
struct Sum<T> {
  using Type = float;
};
template <class T>
using SumOf = typename Sum<T>::Type;

template <class T>
ACCELERATE_INLINE SumOf<T> load(T value) {
  if constexpr (is_half<T>) {
    return widen(value);
  } else {
    return value;
  }
}

template <class T>
ACCELERATE_INLINE void store(SumOf<T> value, T& target) {
  if constexpr (is_half<T>) {
    narrow(value, target);
  } else {
    target = value;
  }
}

template <Reduction reduction, class T>
ACCELERATE_INLINE T combine(T a, T b) {
  // Integers wrap around. Signed overflow is undefined, and small unsigned types are promoted to int, so the arithmetic
  // uses unsigned types of at least 32 bits.
  using Unsigned = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;
  using Wrapping = std::conditional_t<std::is_integral_v<T>, Unsigned, T>;
  if constexpr (reduction == Reduction::Min) {
    return b < a || b != b ? b : a;  // NaN propagates
  } else if constexpr (reduction == Reduction::Max) {
    return b > a || b != b ? b : a;
  } else if constexpr (reduction == Reduction::Product) {
    return static_cast<T>(static_cast<Wrapping>(a) * static_cast<Wrapping>(b));
  } else if constexpr (reduction == Reduction::BitAnd) {
    return static_cast<T>(a & b);
  } else if constexpr (reduction == Reduction::BitOr) {
    return static_cast<T>(a | b);
  } else if constexpr (reduction == Reduction::BitXor) {
    return static_cast<T>(a ^ b);
  } else {
    return static_cast<T>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b));
  }
}

/// Adds the squares of `values` to the kLanes partial sums in `sums`.
template <class S>
ACCELERATE_INLINE void add_squares(const S* values, size_t length, double* sums) {
  double lanes[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = sums[lane];
  size_t begin = 0;
  for (; begin + kLanes <= length; begin += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      double value = values[begin + lane];
      lanes[lane] += value * value;
    }
  }
  for (size_t lane = 0; begin + lane < length; ++lane) {
    double value = values[begin + lane];
    lanes[lane] += value * value;
  }
  for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] = lanes[lane];
}

struct Operands {
  std::span<const std::byte* const> sources;
  std::span<std::byte* const> targets;
  size_t count;
  VectorLevel level;
  double* squares = nullptr;  // kLanes partial sums, to which the squares of the results are added
};

/// Reduces `length` elements from `begin` on. If `length` is a constant, compilers vectorise the loops without a
/// remainder.
template <class T, Reduction reduction, bool with_squares>
ACCELERATE_INLINE void reduce_block(const Operands& operands, size_t begin, size_t length) {
  using S = SumOf<T>;
  S sums[kBlock];
  const T* first = reinterpret_cast<const T*>(operands.sources[0]) + begin;
  for (size_t i = 0; i < length; ++i) sums[i] = load(first[i]);
  for (size_t rank = 1; rank < operands.sources.size(); ++rank) {
    const T* source = reinterpret_cast<const T*>(operands.sources[rank]) + begin;
    for (size_t i = 0; i < length; ++i) sums[i] = combine<reduction, S>(sums[i], load(source[i]));
  }
  if constexpr (reduction == Reduction::Average) {
    S size = static_cast<S>(operands.sources.size());
    for (size_t i = 0; i < length; ++i) sums[i] = sums[i] / size;
  }
  for (auto* target_bytes : operands.targets) {
    T* target = reinterpret_cast<T*>(target_bytes) + begin;
    for (size_t i = 0; i < length; ++i) store<T>(sums[i], target[i]);
  }
  if constexpr (with_squares) add_squares(sums, length, operands.squares);
}

/// Two ranks in place, the most common case: one loop without an intermediate buffer reads and writes each value once.
template <class T, Reduction reduction>
ACCELERATE_INLINE void reduce_pair(const Operands& operands) {
  using S = SumOf<T>;
  T* left = reinterpret_cast<T*>(operands.targets[0]);
  T* right = reinterpret_cast<T*>(operands.targets[1]);
#pragma GCC ivdep
  for (size_t i = 0; i < operands.count; ++i) {
    S sum = combine<reduction, S>(load(left[i]), load(right[i]));
    if constexpr (reduction == Reduction::Average) sum = sum / static_cast<S>(2);
    store<T>(sum, left[i]);
    store<T>(sum, right[i]);
  }
}

template <class T, Reduction reduction, bool with_squares>
ACCELERATE_INLINE void reduce_blocks(const Operands& operands) {
  if constexpr (!with_squares) {
    if (operands.sources.size() == 2 && operands.targets.size() == 2 && operands.sources[0] == operands.targets[0] &&
        operands.sources[1] == operands.targets[1]) {
      return reduce_pair<T, reduction>(operands);
    }
  }
  size_t begin = 0;
  for (; begin + kBlock <= operands.count; begin += kBlock) {
    reduce_block<T, reduction, with_squares>(operands, begin, kBlock);
  }
  if (begin < operands.count) reduce_block<T, reduction, with_squares>(operands, begin, operands.count - begin);
}

template <class T, Reduction reduction, bool with_squares>
void reduce_plain(const Operands& operands) {
  reduce_blocks<T, reduction, with_squares>(operands);
}

#if ACCELERATE_VECTOR_CLONES
template <class T, Reduction reduction, bool with_squares>
__attribute__((target("avx2"))) void reduce_avx2(const Operands& operands) {
  reduce_blocks<T, reduction, with_squares>(operands);
}

template <class T, Reduction reduction, bool with_squares>
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512"))) void reduce_avx512(
    const Operands& operands) {
  reduce_blocks<T, reduction, with_squares>(operands);
}
#endif

template <class T, Reduction reduction, bool with_squares = false>
void run(const Operands& operands) {
  switch (operands.level) {
#if ACCELERATE_VECTOR_CLONES
    case VectorLevel::Avx512:
      return reduce_avx512<T, reduction, with_squares>(operands);
    case VectorLevel::Avx2:
      return reduce_avx2<T, reduction, with_squares>(operands);
#endif
    default:
      return reduce_plain<T, reduction, with_squares>(operands);
  }
}

std::vector<VectorLevel> find_vector_levels() {
  std::vector<VectorLevel> levels{VectorLevel::Plain};
#if ACCELERATE_VECTOR_CLONES
  if (__builtin_cpu_supports("avx2")) levels.push_back(VectorLevel::Avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    levels.push_back(VectorLevel::Avx512);
  }
#endif
  return levels;
}

template <class T>
void run(Reduction reduction, const Operands& operands) {
  switch (reduction) {
    case Reduction::Sum:
      return run<T, Reduction::Sum>(operands);
    case Reduction::Product:
      return run<T, Reduction::Product>(operands);
    case Reduction::Min:
      return run<T, Reduction::Min>(operands);
    case Reduction::Max:
      return run<T, Reduction::Max>(operands);
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (reduction) {
      case Reduction::BitAnd:
        return run<T, Reduction::BitAnd>(operands);
      case Reduction::BitOr:
        return run<T, Reduction::BitOr>(operands);
      default:
        return run<T, Reduction::BitXor>(operands);
    }
  } else {
    return run<T, Reduction::Average>(operands);
  }
}

/// The bitwise reduction that is equivalent for bytes that are 0 or 1.
Reduction among_booleans(Reduction reduction) {
  switch (reduction) {
    case Reduction::Sum:
    case Reduction::Max:
      return Reduction::BitOr;
    case Reduction::Product:
    case Reduction::Min:
      return Reduction::BitAnd;
    default:
      return reduction;
  }
}

}  // namespace

const std::vector<VectorLevel>& vector_levels() {
  static const auto levels = find_vector_levels();
  return levels;
}

bool can_reduce(DataType type, Reduction reduction) {
  bool floating = type >= DataType::Float16;
  bool bits = reduction >= Reduction::BitAnd;
  bool average = reduction == Reduction::Average;
  return type != DataType::Other && reduction != Reduction::None && !(floating && bits) && !(average && !floating);
}

void require_reduction(DataType type, Reduction reduction) {
  if (can_reduce(type, reduction)) return;
  fail("values of type ", name_of(type), " have no reduction '", name_of(reduction), "' over ranks");
}

void reduce(DataType type, Reduction reduction, std::span<const std::byte* const> sources,
            std::span<std::byte* const> targets, size_t count, VectorLevel level) {
  require_reduction(type, reduction);
  Operands operands{sources, targets, count, level};
  switch (type) {
    case DataType::Bool:
      return run<uint8_t>(among_booleans(reduction), operands);
    case DataType::UInt8:
      return run<uint8_t>(reduction, operands);
    case DataType::UInt16:
      return run<uint16_t>(reduction, operands);
    case DataType::UInt32:
      return run<uint32_t>(reduction, operands);
    case DataType::UInt64:
      return run<uint64_t>(reduction, operands);
    case DataType::Int8:
      return run<int8_t>(reduction, operands);
    case DataType::Int16:
      return run<int16_t>(reduction, operands);
    case DataType::Int32:
      return run<int32_t>(reduction, operands);
    case DataType::Int64:
      return run<int64_t>(reduction, operands);
    case DataType::Float16:
      return run<Float16>(reduction, operands);
    case DataType::BFloat16:
      return run<BFloat16>(reduction, operands);
    case DataType::Float32:
      return run<float>(reduction, operands);
    default:
      return run<double>(reduction, operands);
  }
}

bool has_squares(DataType type, Reduction reduction) {
  return reduction == Reduction::Sum && (type == DataType::Float32 || type == DataType::Float64);
}

double reduce_with_squares(DataType type, Reduction reduction, std::span<const std::byte* const> sources,
                           std::span<std::byte* const> targets, size_t count, VectorLevel level) {
  if (!has_squares(type, reduction)) {
    fail("the squares of values of type ", name_of(type), " and reduction '", name_of(reduction), "' cannot be summed");
  }
  double squares[kLanes] = {};
  Operands operands{sources, targets, count, level, squares};
  if (type == DataType::Float32) {
    run<float, Reduction::Sum, /*with_squares=*/true>(operands);
  } else {
    run<double, Reduction::Sum, /*with_squares=*/true>(operands);
  }
  return std::accumulate(std::begin(squares), std::end(squares), 0.0);
}

}  // namespace accelerate::shared_memory
