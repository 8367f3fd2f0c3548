#pragma once

// A group of ranks and its collectives, on top of c10d. A group of one needs no connection.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace c10d {
class ProcessGroup;
class Store;
}  // namespace c10d

namespace accelerate::comm {

enum class Reduction { Sum, Mean, Max, Min };

/// Ranks that call collectives together. Copies share the connection. Members are collective unless marked otherwise:
/// every rank calls them in the same order. A rank that waits longer than `timeout()` throws Error naming the operation
/// and the ranks that were missing. In a group of one every operation is the identity and returns at once.
class Group {
 public:
  class Connection;

  /// A group of one.
  Group();
  explicit Group(std::shared_ptr<Connection> connection);

  int rank() const { return rank_; }          // not collective
  int size() const { return size_; }          // not collective
  std::chrono::milliseconds timeout() const;  // not collective

  /// Reduces `tensor` in place over all ranks. Throws Error for the Mean of integers.
  void all_reduce(at::Tensor& tensor, Reduction reduction = Reduction::Sum) const;

  /// Concatenates the ranks' tensors along dim 0, in rank order. Shapes are equal but for dim 0; a scalar counts as one
  /// row. Types and shapes are compared first, so a mismatch is an Error on every rank and not a hang.
  at::Tensor all_gather(const at::Tensor& tensor) const;

  /// Overwrites `tensor` with the tensor of rank `from`. Shape and type are the same on all ranks.
  void broadcast(at::Tensor& tensor, int from = 0) const;

  /// Returns the bytes of all ranks, in rank order. Lengths may differ.
  std::vector<std::string> all_gather_bytes(const std::string& bytes) const;

  /// Returns the bytes of rank `from`.
  std::string broadcast_bytes(std::string bytes, int from = 0) const;

  /// Returns when all ranks have called it. `what` appears in the error if a rank is missing.
  void barrier(const std::string& what = "barrier") const;

  /// Creates a group of some ranks of this group, numbered from 0 in the order of their ranks here. Returns nothing on
  /// the other ranks. All ranks of this group call it with the same list, also those that are not in it. Messages show
  /// the numbers of ranks in the job. Throws Error on every rank if the lists differ, or if the list is empty, names a
  /// rank twice or names one that does not exist.
  std::optional<Group> subgroup(std::vector<int> ranks) const;

  /// Whether every collective first compares its operation, shape and type across ranks (ACCELERATE_DEBUG_MODE).
  bool debug() const;  // not collective

  /// The connection, for libtorch's own algorithms (the Reducer). Null in a group of one. Not collective.
  std::shared_ptr<Connection> connection() const { return connection_; }

 private:
  std::shared_ptr<Connection> connection_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace accelerate::comm
