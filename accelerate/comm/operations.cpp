#include "accelerate/comm/operations.h"

#include <torch/types.h>

#include "accelerate/base/error.h"

namespace accelerate::comm {

namespace {

bool reduce_flag(bool here, const Group& group, Reduction reduction) {
  if (group.size() == 1) return here;
  auto flag = torch::tensor({here ? 1 : 0}, torch::kInt);
  group.all_reduce(flag, reduction);
  return flag.item<int>() != 0;
}

}  // namespace

bool true_on_all_ranks(bool here, const Group& group) { return reduce_flag(here, group, Reduction::Min); }
bool true_on_any_rank(bool here, const Group& group) { return reduce_flag(here, group, Reduction::Max); }

std::optional<Reduction> parse_reduction(std::string_view name) {
  if (name == "sum") return Reduction::Sum;
  if (name == "mean") return Reduction::Mean;
  if (name == "max") return Reduction::Max;
  if (name == "none") return std::nullopt;
  fail("reduce: the reduction is '", name, "'; it can be sum, mean, max or none");
}

at::Tensor reduce_tensor(const at::Tensor& tensor, const Group& group, std::optional<Reduction> reduction,
                         double scale) {
  if (!reduction) return tensor;
  auto result = tensor.detach().clone();
  group.all_reduce(result, *reduction);
  return scale == 1.0 ? result : result * scale;
}

at::Tensor pad_tensor(const at::Tensor& tensor, const Group& group, int64_t dim, double pad_index, bool pad_first) {
  if (dim >= tensor.dim() || dim < -tensor.dim() || group.size() == 1) return tensor;
  if (dim < 0) dim += tensor.dim();
  auto longest = torch::tensor({tensor.size(dim)}, torch::kLong);
  group.all_reduce(longest, Reduction::Max);
  auto length = longest.item<int64_t>();
  if (length == tensor.size(dim)) return tensor;
  auto sizes = tensor.sizes().vec();
  sizes[dim] = length;
  auto padded = torch::full(sizes, pad_index, tensor.options());
  padded.narrow(dim, pad_first ? length - tensor.size(dim) : 0, tensor.size(dim)).copy_(tensor);
  return padded;
}

}  // namespace accelerate::comm
