#pragma once

// What a rank does in a collective, in a form that ranks compare with each other.

#include <cstddef>
#include <cstdint>
#include <string>

namespace accelerate::shared_memory {

enum class Operation : uint8_t {
  Barrier,
  AllReduce,
  Reduce,
  ReduceScatter,
  Broadcast,
  AllGather,
  Gather,
  Scatter,
  AllToAll,
  Exchange,
  Share,
};

/// Other stands for types that are moved but not reduced; it is counted in bytes.
enum class DataType : uint8_t {
  Other,
  Bool,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Int8,
  Int16,
  Int32,
  Int64,
  Float16,
  BFloat16,
  Float32,
  Float64,
};

enum class Reduction : uint8_t { None, Sum, Average, Product, Min, Max, BitAnd, BitOr, BitXor };

size_t bytes_of(DataType type);

/// Equal on all ranks of a collective, or it is an error on all of them.
struct Call {
  Operation operation = Operation::Barrier;
  DataType type = DataType::Other;
  Reduction reduction = Reduction::None;
  int32_t root = -1;
  uint64_t count = 0;  // elements that each rank gives, or takes where one rank gives to each

  bool operator==(const Call&) const = default;
};

/// "allreduce of 12 x float32 (sum)".
std::string describe(const Call& call);

const char* name_of(Operation operation);
const char* name_of(DataType type);
const char* name_of(Reduction reduction);

}  // namespace accelerate::shared_memory
