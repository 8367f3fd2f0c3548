#pragma once

// The collectives as free functions over all processes of the job, as in Python's accelerate.utils.

#include "accelerate/base/require_cpp20.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "accelerate/comm/operations.h"
#include "accelerate/comm/partial_state.h"
#include "accelerate/comm/random.h"

namespace accelerate {

/// Concatenates the tensors of all ranks along dim 0, in rank order, and lists of other objects. Collective.
template <class T>
T gather(const T& nest) {
  return comm::gather(nest, PartialState().group());
}

/// Concatenates the lists of all ranks. Collective.
template <class T>
std::vector<T> gather_object(const std::vector<T>& objects) {
  return comm::gather_object(objects, PartialState().group());
}

/// Reduces over ranks, by default to the mean. Collective.
template <class T>
T reduce(const T& nest, std::string_view reduction = "mean", double scale = 1.0) {
  return comm::reduce(nest, PartialState().group(), reduction, scale);
}

/// Returns the tensors of rank `from_process`. Collective.
template <class T>
T broadcast(T nest, int from_process = 0) {
  return comm::broadcast(std::move(nest), PartialState().group(), from_process);
}

/// Replaces `objects` by those of rank `from_process`. Collective.
template <class T>
void broadcast_object_list(std::vector<T>& objects, int from_process = 0) {
  comm::broadcast_object_list(objects, PartialState().group(), from_process);
}

/// Pads each tensor along a dim to the longest of all ranks. Collective.
template <class T>
T pad_across_processes(const T& nest, const comm::PadOptions& options = {}) {
  return comm::pad_across_processes(nest, PartialState().group(), options);
}

/// A barrier: returns when all ranks have called it.
inline void wait_for_everyone() { PartialState().wait_for_everyone(); }

using comm::set_seed;

/// Copies rank 0's random states of the given kinds to all ranks. Collective.
inline void synchronize_rng_states(const std::vector<std::string>& kinds, at::Generator generator = {}) {
  comm::synchronize_rng_states(kinds, PartialState().group(), std::move(generator));
}

}  // namespace accelerate
