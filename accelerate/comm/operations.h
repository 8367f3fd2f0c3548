#pragma once

// Collectives on nested containers of tensors, and on objects.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accelerate/comm/group.h"
#include "accelerate/tensors/archive.h"
#include "accelerate/tensors/hidden_tensors.h"
#include "accelerate/tensors/lists.h"
#include "accelerate/tensors/nest.h"

namespace accelerate::comm {

/// "sum", "mean" or "max"; nothing for "none". Throws Error for other names.
std::optional<Reduction> parse_reduction(std::string_view name);

/// reduce() of one tensor. Without a reduction it returns the tensor.
at::Tensor reduce_tensor(const at::Tensor& tensor, const Group& group, std::optional<Reduction> reduction,
                         double scale);

/// pad_across_processes() of one tensor.
at::Tensor pad_tensor(const at::Tensor& tensor, const Group& group, int64_t dim, double pad_index, bool pad_first);

/// Whether `here` is true on all ranks, and whether it is true on at least one. Collective.
bool true_on_all_ranks(bool here, const Group& group);
bool true_on_any_rank(bool here, const Group& group);

/// Reduces over ranks and multiplies by `scale`; never in place. None returns the tensors as they are.
template <class T>
T reduce(const T& nest, const Group& group, std::string_view reduction = "mean", double scale = 1.0) {
  auto parsed = parse_reduction(reduction);
  return tensors::map_tensors(nest,
                              [&](const at::Tensor& tensor) { return reduce_tensor(tensor, group, parsed, scale); });
}

/// Overwrites every tensor with the one of rank `from_process`.
template <class T>
T broadcast(T nest, const Group& group, int from_process = 0) {
  tensors::for_each_tensor(nest, [&](at::Tensor& tensor) { group.broadcast(tensor, from_process); });
  return nest;
}

struct PadOptions {
  int64_t dim = 0;
  double pad_index = 0;
  bool pad_first = false;  // padding before the data instead of after it
};

/// Pads each tensor along `dim` to the greatest length of all ranks, so that it can be gathered. Tensors without that
/// dim are returned unchanged.
template <class T>
T pad_across_processes(const T& nest, const Group& group, const PadOptions& options = {}) {
  return tensors::map_tensors(nest, [&](const at::Tensor& tensor) {
    return pad_tensor(tensor, group, options.dim, options.pad_index, options.pad_first);
  });
}

/// Concatenates the lists of all ranks, in rank order. Collective. With one process, returns the list itself.
template <class T>
std::vector<T> gather_object(const std::vector<T>& objects, const Group& group) {
  if (group.size() == 1) return objects;
  std::vector<T> all;
  for (const auto& bytes : group.all_gather_bytes(tensors::pack(objects))) {
    for (auto&& object : tensors::unpack<std::vector<T>>(bytes)) all.push_back(std::move(object));
  }
  return all;
}

/// Concatenates the tensors of all ranks along dim 0, in rank order. Collective. A 0-dim tensor counts as one row, also
/// with one process. Lists of other values, such as strings, are gathered as by gather_object(). Single numbers keep
/// the value of this rank.
template <class T>
T gather(T nest, const Group& group) {
  static_assert(!tensors::hides_tensors<T>,
                "gather cannot find the tensors of this struct: write beside it, in its namespace: "
                "auto tensor_fields(MyBatch& batch) { return std::tie(batch.pixels, batch.labels); }");
  static_assert(!tensors::holds_single_strings<T>,
                "gather joins tensors and lists, and this has a single string, of which each rank has one: put it into "
                "a std::vector<std::string>, or gather all of it by gather_object(std::vector{value})");
  tensors::for_each_tensor(nest, [&](at::Tensor& tensor) { tensor = group.all_gather(tensor); });
  tensors::for_each_list(nest, [&](auto& list) { list = gather_object(list, group); });
  return nest;
}

/// Replaces `objects` by the objects of rank `from_process`.
template <class T>
void broadcast_object_list(std::vector<T>& objects, const Group& group, int from_process = 0) {
  if (group.size() == 1) return;
  auto mine = group.rank() == from_process ? tensors::pack(objects) : std::string();
  objects = tensors::unpack<std::vector<T>>(group.broadcast_bytes(std::move(mine), from_process));
}

}  // namespace accelerate::comm
