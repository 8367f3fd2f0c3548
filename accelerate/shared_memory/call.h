#pragma once

// The description of a collective that ranks compare to detect mismatched calls.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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
  SharedZeros,
};

/// Other: a type that is copied but not reduced, counted in bytes.
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

/// The size of an element in bytes.
size_t size_of(DataType type);

/// Has to be equal on all ranks of a collective; otherwise all of them get an error.
struct Call {
  Operation operation = Operation::Barrier;
  DataType type = DataType::Other;
  Reduction reduction = Reduction::None;
  int32_t root = -1;
  uint64_t count = 0;  // elements that each rank sends, or receives in a scatter

  bool operator==(const Call&) const = default;
};

/// "allreduce of 12 x float32 (sum)".
std::string describe(const Call& call);

/// A rank by its number in the job, and what it called.
struct DescribedCall {
  std::string rank;
  std::string call;
};

/// The error of rank `self` if ranks called different collectives: what each rank called.
std::string describe_mismatch(const std::string& self, const std::vector<DescribedCall>& calls);

/// The names that errors show.
const char* name_of(Operation operation);
const char* name_of(DataType type);
const char* name_of(Reduction reduction);

}  // namespace accelerate::shared_memory
