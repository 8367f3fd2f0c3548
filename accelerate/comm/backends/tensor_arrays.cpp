#include "accelerate/comm/backends/tensor_arrays.h"

#include <torch/csrc/distributed/c10d/Utils.hpp>

#include "accelerate/base/error.h"
#include "accelerate/shared_memory/reduce.h"

namespace accelerate::comm {

namespace shm = shared_memory;

namespace {

shm::DataType type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kBool:
      return shm::DataType::Bool;
    case at::kByte:
      return shm::DataType::UInt8;
    case at::kUInt16:
      return shm::DataType::UInt16;
    case at::kUInt32:
      return shm::DataType::UInt32;
    case at::kUInt64:
      return shm::DataType::UInt64;
    case at::kChar:
      return shm::DataType::Int8;
    case at::kShort:
      return shm::DataType::Int16;
    case at::kInt:
      return shm::DataType::Int32;
    case at::kLong:
      return shm::DataType::Int64;
    case at::kHalf:
      return shm::DataType::Float16;
    case at::kBFloat16:
      return shm::DataType::BFloat16;
    case at::kFloat:
      return shm::DataType::Float32;
    case at::kDouble:
      return shm::DataType::Float64;
    default:
      return shm::DataType::Other;
  }
}

const at::Tensor& require_dense(const at::Tensor& tensor) {
  if (!tensor.device().is_cpu()) fail("shared memory is for tensors on the CPU; this one is on ", tensor.device());
  if (tensor.layout() != at::kStrided) {
    fail("sparse tensors cannot be sent through shared memory; use ACCELERATE_COMM=gloo");
  }
  return tensor;
}

}  // namespace

at::Tensor& only(std::vector<at::Tensor>& tensors) {
  if (tensors.size() != 1) fail("a collective takes one tensor from each rank; there are ", tensors.size());
  return tensors[0];
}

std::vector<at::Tensor>& only(std::vector<std::vector<at::Tensor>>& lists) {
  if (lists.size() != 1) fail("a collective takes one list of tensors from each rank; there are ", lists.size());
  return lists[0];
}

shm::Reduction reduction_of(const c10d::ReduceOp& operation) {
  switch (operation) {
    case c10d::ReduceOp::SUM:
      return shm::Reduction::Sum;
    case c10d::ReduceOp::AVG:
      return shm::Reduction::Average;
    case c10d::ReduceOp::PRODUCT:
      return shm::Reduction::Product;
    case c10d::ReduceOp::MIN:
      return shm::Reduction::Min;
    case c10d::ReduceOp::MAX:
      return shm::Reduction::Max;
    case c10d::ReduceOp::BAND:
      return shm::Reduction::BitAnd;
    case c10d::ReduceOp::BOR:
      return shm::Reduction::BitOr;
    case c10d::ReduceOp::BXOR:
      return shm::Reduction::BitXor;
    default:
      fail("this reduction exists only between GPUs; use a sum and scale it");
  }
}

at::Tensor as_real(const at::Tensor& tensor, const c10d::ReduceOp& operation) {
  if (!tensor.is_complex()) return tensor;
  if (!c10d::isComplexViewAsRealAllowed(operation)) {
    fail("complex numbers support only the sum over ranks");
  }
  return at::view_as_real(tensor);
}

void check_reduction(const at::Tensor& tensor, const c10d::ReduceOp& operation) {
  shm::require_reduction(type_of(as_real(tensor, operation)), reduction_of(operation));
}

ContiguousTensor::ContiguousTensor(const at::Tensor& tensor)
    : original_(require_dense(tensor)), tensor_(tensor.resolve_conj().resolve_neg().contiguous()) {}

shm::Array ContiguousTensor::array() const {
  auto type = type_of(tensor_);
  return {data(), bytes() / shm::size_of(type), type};
}

void ContiguousTensor::copy_back() const {
  if (!tensor_.is_same(original_)) original_.copy_(tensor_);
}

shm::Arrays ContiguousTensor::parts(int size, const ContiguousTensor& part) const {
  if (bytes() != size * part.bytes() || tensor_.scalar_type() != part.tensor_.scalar_type()) {
    fail("a tensor of ", tensor_.scalar_type(), " ", tensor_.sizes(), " cannot be divided into ", size, " of ",
         part.tensor_.scalar_type(), " ", part.tensor_.sizes());
  }
  shm::Arrays parts;
  for (int rank = 0; rank < size; ++rank) parts.push_back(data() + rank * part.bytes());
  return parts;
}

std::vector<shm::Array> ContiguousTensor::rows(int size, const std::vector<int64_t>& splits) const {
  c10d::checkSplitSizes(splits, tensor_, size);
  size_t num_rows = tensor_.size(0);
  size_t row_bytes = num_rows == 0 ? 0 : bytes() / num_rows;
  auto part = array();
  auto element_bytes = shm::size_of(part.type);
  std::vector<shm::Array> parts;
  for (int rank = 0; rank < size; ++rank) {
    size_t part_bytes = row_bytes * (splits.empty() ? num_rows / size : splits[rank]);
    part.count = part_bytes / element_bytes;
    parts.push_back(part);
    part.data += part_bytes;
  }
  return parts;
}

PerRankTensors::PerRankTensors(const std::vector<at::Tensor>& tensors, int size, const ContiguousTensor& like) {
  if (static_cast<int>(tensors.size()) != size) {
    fail("a collective of ", size, " ranks needs one tensor per rank; there are ", tensors.size());
  }
  for (const auto& tensor : tensors) {
    if (tensor.nbytes() != like.bytes() || tensor.scalar_type() != like.tensor().scalar_type()) {
      fail("tensors of one collective differ: ", tensor.scalar_type(), " ", tensor.sizes(), " and ",
           like.tensor().scalar_type(), " ", like.tensor().sizes());
    }
    tensors_.emplace_back(tensor);
  }
}

shm::Arrays PerRankTensors::arrays() const {
  shm::Arrays arrays;
  for (const auto& tensor : tensors_) arrays.push_back(tensor.data());
  return arrays;
}

void PerRankTensors::copy_back() const {
  for (const auto& tensor : tensors_) tensor.copy_back();
}

}  // namespace accelerate::comm
