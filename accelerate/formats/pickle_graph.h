#pragma once

// What the instructions of a pickle have made so far. Objects may be shared and may still grow when others already
// refer to them, so this is a graph; what a reader gets is the tree that unfolds from it.

#include <cstdint>
#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/formats/pickle.h"

namespace accelerate::formats {

using NodeId = uint32_t;

/// A list, tuple or set.
struct SequenceNode {
  ValueKind kind;
  std::vector<NodeId> items;
};

/// A dict or OrderedDict.
struct MappingNode {
  ValueKind kind;
  std::vector<std::pair<NodeId, NodeId>> entries;
};

/// A name of a Python function or class.
struct GlobalNode {
  std::string name;  // "collections.OrderedDict"
};

/// The bytes that tensors refer to.
struct StorageNode {
  std::string key;
  uint64_t bytes;
  const PickleType* type;  // nullptr for an untyped one
};

/// numpy's description of a type, "u4" before its byte order is known and "<u4" after.
struct ArrayTypeNode {
  std::string type;
};

/// A numpy array before its contents are known.
struct EmptyArrayNode {};

/// A finished value without parts, or one of the above.
using PickleNode =
    std::variant<PickleValue, SequenceNode, MappingNode, GlobalNode, StorageNode, ArrayTypeNode, EmptyArrayNode>;

/// The objects of one pickle. Throws Error naming the source for whatever is not as it should be.
class PickleGraph {
 public:
  PickleGraph(std::string source, size_t pickle_bytes) : source_(std::move(source)), pickle_bytes_(pickle_bytes) {}

  /// Adds an object. Throws Error when there are more than any checkpoint has, or when copies make them far larger than
  /// the pickle is.
  NodeId add(PickleNode node);

  PickleNode& operator[](NodeId id) { return nodes_[id]; }

  /// The node as one of its alternatives, `wanted` saying which.
  template <class Alternative>
  Alternative& get(NodeId id, std::string_view wanted) {
    if (auto* node = std::get_if<Alternative>(&nodes_[id])) return *node;
    refuse("its pickle lacks a ", wanted, " where one is expected");
  }

  /// The same for finished values.
  const std::string& text(NodeId id) { return value(id, ValueKind::Text, "str").text(); }
  const std::string& bytes(NodeId id) { return value(id, ValueKind::Bytes, "bytes").bytes(); }
  int64_t integer(NodeId id) { return value(id, ValueKind::Integer, "int").integer(); }
  bool boolean(NodeId id) { return value(id, ValueKind::Bool, "bool").boolean(); }
  /// The sizes or strides of a tensor.
  std::vector<int64_t> integers(NodeId tuple);

  /// The value that unfolds from a node. Throws Error when a value contains itself, is nested too deeply, or when
  /// shared parts would make it far larger than the pickle is.
  PickleValue unfold(NodeId root);

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(source_, ": ", parts...);
  }

 private:
  const PickleValue& value(NodeId id, ValueKind kind, std::string_view wanted);
  PickleValue unfold(NodeId id, int depth);
  PickleValue unfold_parts(const PickleNode& node, int depth);
  /// Counts what is made of the pickle, so that it stays in proportion.
  void pay(size_t bytes);

  std::string source_;
  size_t pickle_bytes_;
  std::deque<PickleNode> nodes_;  // stays in place while it grows
  std::vector<bool> unfolding_;   // the nodes that enclose the present one
  size_t made_bytes_ = 0;
};

/// A text from a file, fit for a message: shortened, and without what could confuse a terminal.
std::string printable(std::string_view text);

}  // namespace accelerate::formats
