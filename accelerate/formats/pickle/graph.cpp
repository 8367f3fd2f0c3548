#include "accelerate/formats/pickle/graph.h"

#include <unordered_set>

#include "accelerate/formats/pickle/pickle.h"

namespace accelerate::formats {

namespace {

constexpr size_t kMaxNodes = 10'000'000;  // a checkpoint has about twenty per tensor
constexpr int kMaxDepth = 100;
constexpr size_t kMaxDimensions = 64;
// Python's pickler writes an object once and refers to it afterwards, so a pickle can be a decompression bomb: ten
// nested lists, each with ten references to the one before. In checkpoints names and small tuples recur, which makes
// less than ten times the size of the pickle.
constexpr size_t kMaxGrowth = 32;
constexpr size_t kFreeBytes = size_t{1} << 20;

size_t bytes_of(const PickleValue& value) {
  switch (value.kind()) {
    case ValueKind::Text:
      return value.text().size();
    case ValueKind::Bytes:
      return value.bytes().size();
    case ValueKind::BigInteger:
      return value.big_integer().bytes.size();
    case ValueKind::NumpyArray:
      return value.array().data.size();
    case ValueKind::Tensor:
      return sizeof(TensorReference) + value.tensor().storage.size();
    default:
      return 1;
  }
}
size_t bytes_of(const SequenceNode& sequence) { return sizeof(NodeId) * sequence.items.size(); }
size_t bytes_of(const MappingNode& mapping) { return sizeof(NodeId) * 2 * mapping.entries.size(); }
size_t bytes_of(const StorageNode& storage) { return storage.key.size(); }
size_t bytes_of(const GlobalNode&) { return 1; }
size_t bytes_of(const ArrayTypeNode&) { return 1; }
size_t bytes_of(const EmptyArrayNode&) { return 1; }

bool can_be_key(const PickleValue& value) {
  switch (value.kind()) {
    case ValueKind::None:
    case ValueKind::Bool:
    case ValueKind::Integer:
    case ValueKind::BigInteger:
    case ValueKind::Float:
    case ValueKind::Text:
    case ValueKind::Bytes:
      return true;
    case ValueKind::Tuple:
      for (const auto& item : value.items()) {
        if (!can_be_key(item)) return false;
      }
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr size_t kMaxLength = 100;
  std::string result;
  for (char character : text.substr(0, kMaxLength)) {
    result += character >= ' ' && character <= '~' ? character : '?';
  }
  return text.size() > kMaxLength ? result + "..." : result;
}

NodeId PickleGraph::add(PickleNode node) {
  if (nodes_.size() == kMaxNodes) refuse("its pickle creates more than ", kMaxNodes, " objects");
  account_bytes(std::visit([](const auto& alternative) { return bytes_of(alternative); }, node));
  nodes_.push_back(std::move(node));
  return static_cast<NodeId>(nodes_.size() - 1);
}

const PickleValue& PickleGraph::value(NodeId id, ValueKind kind, std::string_view wanted) {
  const auto& value = get<PickleValue>(id, wanted);
  if (value.kind() != kind) {
    refuse("its pickle has a ", python_name_of(value.kind()), " where a ", wanted, " is expected");
  }
  return value;
}

std::vector<int64_t> PickleGraph::integers(NodeId tuple) {
  const auto& items = get<SequenceNode>(tuple, "tuple").items;
  if (items.size() > kMaxDimensions) refuse("a shape of ", items.size(), " dimensions is invalid");
  std::vector<int64_t> result;
  for (NodeId item : items) result.push_back(integer(item));
  return result;
}

void PickleGraph::account_bytes(size_t bytes) {
  made_bytes_ += bytes;
  if (made_bytes_ > kFreeBytes + kMaxGrowth * pickle_bytes_) {
    refuse("its pickle of ", pickle_bytes_, " bytes expands to more than ", kMaxGrowth, " times as much");
  }
}

PickleValue PickleGraph::unfold(NodeId root) {
  unfolding_.assign(nodes_.size(), false);
  return unfold(root, 0);
}

PickleValue PickleGraph::unfold(NodeId id, int depth) {
  if (unfolding_[id]) refuse("its pickle has a value that contains itself");
  if (depth > kMaxDepth) refuse("the values in its pickle are nested more than ", kMaxDepth, " deep");
  unfolding_[id] = true;
  auto value = unfold_parts(nodes_[id], depth);
  unfolding_[id] = false;
  return value;
}

PickleValue PickleGraph::unfold_parts(const PickleNode& node, int depth) {
  if (auto* value = std::get_if<PickleValue>(&node)) {
    account_bytes(bytes_of(*value));
    return *value;
  }
  if (auto* sequence = std::get_if<SequenceNode>(&node)) {
    account_bytes(1);
    PickleValue::Items items;
    for (NodeId item : sequence->items) items.push_back(unfold(item, depth + 1));
    if (sequence->kind == ValueKind::List) return PickleValue::list(std::move(items));
    return sequence->kind == ValueKind::Tuple ? PickleValue::tuple(std::move(items))
                                              : PickleValue::set(std::move(items));
  }
  if (auto* mapping = std::get_if<MappingNode>(&node)) {
    account_bytes(1);
    PickleValue::Entries entries;
    std::unordered_set<std::string> keys;
    for (auto [key_id, value_id] : mapping->entries) {
      auto key = unfold(key_id, depth + 1);
      if (!can_be_key(key)) refuse("its pickle has a ", python_name_of(key.kind()), " as the key of a dict");
      if (!keys.insert(write_pickle(key)).second) refuse("its pickle has a dict with a duplicate key");
      entries.emplace_back(std::move(key), unfold(value_id, depth + 1));
    }
    return mapping->kind == ValueKind::Dict ? PickleValue::dict(std::move(entries))
                                            : PickleValue::ordered_dict(std::move(entries));
  }
  if (auto* global = std::get_if<GlobalNode>(&node)) {
    refuse("its pickle has the Python global ", global->name, " itself as a value; only values can be read");
  }
  refuse("its pickle has an unfinished numpy array or the storage of a tensor as a value");
}

}  // namespace accelerate::formats
