#include "accelerate/shared_memory/call.h"

namespace accelerate::shared_memory {

size_t size_of(DataType type) {
  static constexpr uint8_t kBytes[] = {1, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return kBytes[static_cast<size_t>(type)];
}

const char* name_of(Operation operation) {
  static constexpr const char* kNames[] = {"barrier",   "allreduce", "reduce",      "reduce_scatter",
                                           "broadcast", "allgather", "gather",      "scatter",
                                           "alltoall",  "exchange",  "shared_zeros"};
  return kNames[static_cast<size_t>(operation)];
}

const char* name_of(DataType type) {
  static constexpr const char* kNames[] = {"bytes", "bool",  "uint8", "uint16",  "uint32",   "uint64",  "int8",
                                           "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"};
  return kNames[static_cast<size_t>(type)];
}

const char* name_of(Reduction reduction) {
  static constexpr const char* kNames[] = {"none", "sum", "average", "product", "min", "max", "and", "or", "xor"};
  return kNames[static_cast<size_t>(reduction)];
}

std::string describe(const Call& call) {
  std::string text = name_of(call.operation);
  if (call.operation == Operation::Barrier) return text;
  if (call.operation != Operation::AllToAll) text += " of " + std::to_string(call.count) + " x";
  text += std::string(" ") + name_of(call.type);
  if (call.reduction != Reduction::None) text += std::string(" (") + name_of(call.reduction) + ")";
  if (call.root >= 0) text += " with rank " + std::to_string(call.root);
  return text;
}

std::string describe_mismatch(const std::string& self, const std::vector<DescribedCall>& calls) {
  std::string text = "rank " + self + ": the ranks called mismatched collectives:";
  for (const auto& [rank, call] : calls) text += "\n  - Process " + rank + ": " + call;
  return text;
}

}  // namespace accelerate::shared_memory
