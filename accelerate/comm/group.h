#pragma once

// A group of ranks that talk to each other. The engine behind it is c10d; a group of one needs none.

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

/// Ranks that call collectives together. Copies share the connection. All members are collective unless said otherwise:
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

  /// Reduces `tensor` in place over all ranks. Integers have no Mean.
  void all_reduce(at::Tensor& tensor, Reduction reduction = Reduction::Sum) const;

  /// Concatenates the ranks' tensors along dim 0, in rank order. Shapes are equal but for dim 0; a scalar counts as one
  /// row. Types and shapes are compared first, so a mismatch is an Error on every rank and not a hang.
  at::Tensor all_gather(const at::Tensor& tensor) const;

  /// Overwrites `tensor` with that of rank `from`, which has the same shape and type.
  void broadcast(at::Tensor& tensor, int from = 0) const;

  /// Everyone's bytes, in rank order; lengths may differ.
  std::vector<std::string> all_gather_bytes(const std::string& bytes) const;

  /// The bytes of rank `from`.
  std::string broadcast_bytes(std::string bytes, int from = 0) const;

  /// Returns when all ranks have called it. `what` appears in the error when one does not come.
  void barrier(const std::string& what = "barrier") const;

  /// Connects some ranks of this group to a group of their own, where they are counted from 0 in the order of their
  /// ranks here; nothing on the others. All ranks of this group call it, with the same ranks, also those that are not
  /// among them. Messages name ranks as those of the job. Throws Error on every rank when the lists differ, or name a
  /// rank twice or one that there is not.
  std::optional<Group> subgroup(std::vector<int> ranks) const;

  /// Whether every collective first compares its operation, shape and type across ranks (ACCELERATE_DEBUG_MODE).
  bool debug() const;  // not collective

  /// The engine, for libtorch's own algorithms (the Reducer). Null in a group of one. Not collective.
  std::shared_ptr<Connection> connection() const { return connection_; }

 private:
  std::shared_ptr<Connection> connection_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace accelerate::comm
