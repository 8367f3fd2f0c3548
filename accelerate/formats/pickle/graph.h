#pragma once

// The objects that the opcodes of a pickle have created so far. Objects may be shared, and may grow after others refer
// to them, so they form a graph. The reader returns the tree that it unfolds to.

#include <cstdint>
#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/formats/pickle/pickle.h"

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

/// The name of a Python function or class.
struct GlobalNode {
  std::string name;  // "collections.OrderedDict"
};

/// The storage of tensors.
struct StorageNode {
  std::string key;
  uint64_t bytes;
  const PickleType* type;  // nullptr if untyped
};

/// A numpy dtype: "u4" until its byte order is known, then "<u4".
struct ArrayTypeNode {
  std::string type;
};

/// A numpy array without its content yet.
struct EmptyArrayNode {};

/// A finished value without parts, or one of the above.
using PickleNode =
    std::variant<PickleValue, SequenceNode, MappingNode, GlobalNode, StorageNode, ArrayTypeNode, EmptyArrayNode>;

/// The objects of one pickle. Throws Error naming the source for invalid input.
class PickleGraph {
 public:
  PickleGraph(std::string source, size_t pickle_bytes) : source_(std::move(source)), pickle_bytes_(pickle_bytes) {}

  /// Adds an object. Throws Error if there are more than in any checkpoint, or if copies make them far larger than the
  /// pickle.
  NodeId add(PickleNode node);

  PickleNode& operator[](NodeId id) { return nodes_[id]; }

  /// The node as one of its alternatives; `wanted` names it in the message.
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

  /// The value that unfolds from a node. Throws Error if a value contains itself, is nested too deeply, or if shared
  /// parts would make it far larger than the pickle.
  PickleValue unfold(NodeId root);

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(source_, ": ", parts...);
  }

 private:
  const PickleValue& value(NodeId id, ValueKind kind, std::string_view wanted);
  PickleValue unfold(NodeId id, int depth);
  PickleValue unfold_parts(const PickleNode& node, int depth);
  /// Accounts for created bytes and throws Error if they exceed the limit, which is proportional to the pickle.
  void account_bytes(size_t bytes);

  std::string source_;
  size_t pickle_bytes_;
  std::deque<PickleNode> nodes_;  // keeps references valid while it grows
  std::vector<bool> unfolding_;   // the nodes on the current path, to detect cycles
  size_t made_bytes_ = 0;
};

/// Makes text from a file safe for a message: shortened, and without characters that could confuse a terminal.
std::string printable(std::string_view text);

}  // namespace accelerate::formats
