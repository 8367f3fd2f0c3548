#include "accelerate/formats/pickle/calls.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "accelerate/formats/pickle/calls.h"

namespace accelerate::formats {

namespace {

using Arguments = std::vector<NodeId>;

/// Throws Error unless all elements are inside the storage.
void check_bounds(const PickleGraph& graph, const TensorReference& tensor, uint64_t storage_elements) {
  if (tensor.sizes.size() != tensor.strides.size()) {
    graph.refuse("a tensor has ", tensor.sizes.size(), " sizes and ", tensor.strides.size(), " strides");
  }
  bool is_empty = false, is_possible = tensor.offset >= 0;
  int64_t last = tensor.offset, elements = 1;
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    int64_t step = 0;
    is_empty |= tensor.sizes[i] == 0;
    is_possible &= tensor.sizes[i] >= 0 && tensor.strides[i] >= 0 &&
                   !__builtin_mul_overflow(elements, std::max<int64_t>(tensor.sizes[i], 1), &elements) &&
                   !__builtin_mul_overflow(tensor.sizes[i] - 1, tensor.strides[i], &step) &&
                   !__builtin_add_overflow(last, step, &last);
  }
  if (!is_possible || (!is_empty && static_cast<uint64_t>(last) >= storage_elements)) {
    graph.refuse("a tensor exceeds its storage '", printable(tensor.storage), "' of ", tensor.storage_bytes, " bytes");
  }
}

NodeId rebuild_tensor(PickleGraph& graph, const Arguments& arguments, const PickleType* type) {
  const auto& storage = graph.get<StorageNode>(arguments[0], "storage");
  if (!type) type = storage.type;
  if (!type || (storage.type && storage.type != type)) graph.refuse("a tensor and its storage have different types");
  TensorReference tensor{.storage = storage.key,
                         .storage_bytes = storage.bytes,
                         .dtype = std::string(type->dtype),
                         .offset = graph.integer(arguments[1]),
                         .sizes = graph.integers(arguments[2]),
                         .strides = graph.integers(arguments[3]),
                         .requires_grad = arguments.size() > 4 && graph.boolean(arguments[4])};
  check_bounds(graph, tensor, storage.bytes / type->bytes);
  return graph.add(PickleValue(std::move(tensor)));
}

/// (storage, offset, sizes, strides[, requires_grad, hooks[, metadata]])
NodeId rebuild_tensor_v2(PickleGraph& graph, const Arguments& arguments) {
  return rebuild_tensor(graph, arguments, nullptr);
}

/// (storage, offset, sizes, strides, requires_grad, hooks, type[, metadata])
NodeId rebuild_tensor_v3(PickleGraph& graph, const Arguments& arguments) {
  const auto& name = graph.get<GlobalNode>(arguments[6], "torch type").name;
  const PickleType* type = name.starts_with("torch.") ? pickle_type_of(name.substr(std::strlen("torch."))) : nullptr;
  if (!type) graph.refuse(name, " is used as the type of a tensor");
  return rebuild_tensor(graph, arguments, type);
}

/// (tensor, requires_grad, hooks)
NodeId rebuild_parameter(PickleGraph& graph, const Arguments& arguments) {
  const auto& value = graph.get<PickleValue>(arguments[0], "tensor");
  if (value.kind() != ValueKind::Tensor) graph.refuse("a parameter is not made from a tensor");
  auto tensor = value.tensor();
  tensor.requires_grad = graph.boolean(arguments[1]);
  return graph.add(PickleValue(std::move(tensor)));
}

/// () or, from Python 2, ([[key, value], ...])
NodeId ordered_dict(PickleGraph& graph, const Arguments& arguments) {
  MappingNode dict{ValueKind::OrderedDict, {}};
  if (!arguments.empty()) {
    for (NodeId item : graph.get<SequenceNode>(arguments[0], "list of pairs").items) {
      const auto& pair = graph.get<SequenceNode>(item, "pair").items;
      if (pair.size() != 2) graph.refuse("an OrderedDict is not made from a list of pairs");
      dict.entries.emplace_back(pair[0], pair[1]);
    }
  }
  return graph.add(std::move(dict));
}

/// (factory): the default for missing keys does not matter in a checkpoint.
NodeId default_dict(PickleGraph& graph, const Arguments&) { return graph.add(MappingNode{ValueKind::Dict, {}}); }

/// (dict)
NodeId counter(PickleGraph& graph, const Arguments& arguments) {
  return graph.add(MappingNode{ValueKind::Dict, graph.get<MappingNode>(arguments[0], "dict").entries});
}

/// (list)
NodeId set(PickleGraph& graph, const Arguments& arguments) {
  return graph.add(SequenceNode{ValueKind::Set, graph.get<SequenceNode>(arguments[0], "list").items});
}

/// (tuple)
NodeId size(PickleGraph& graph, const Arguments& arguments) {
  return graph.add(SequenceNode{ValueKind::Tuple, graph.get<SequenceNode>(arguments[0], "tuple").items});
}

/// ()
NodeId empty_bytes(PickleGraph& graph, const Arguments&) { return graph.add(PickleValue(Bytes{})); }

/// (text, "latin1"): each character of the text is a byte.
NodeId encode(PickleGraph& graph, const Arguments& arguments) {
  const auto& text = graph.text(arguments[0]);
  if (graph.text(arguments[1]) != "latin1") graph.refuse("bytes are not encoded as latin1");
  Bytes bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    auto lead = static_cast<unsigned char>(text[i]);
    if (lead >= 0x80) {
      bool is_byte = (lead == 0xc2 || lead == 0xc3) && i + 1 < text.size() && (text[i + 1] & 0xc0) == 0x80;
      if (!is_byte) graph.refuse("bytes are encoded with an invalid character");
      lead = static_cast<unsigned char>(lead << 6 | (text[++i] & 0x3f));
    }
    bytes.data += static_cast<char>(lead);
  }
  return graph.add(PickleValue(std::move(bytes)));
}

struct Function {
  size_t min_arguments, max_arguments;
  NodeId (*call)(PickleGraph&, const Arguments&);
};

const std::map<std::string_view, Function>& functions() {
  static const std::map<std::string_view, Function> kFunctions = {
      {"torch._utils._rebuild_tensor", {4, 4, rebuild_tensor_v2}},
      {"torch._utils._rebuild_tensor_v2", {6, 7, rebuild_tensor_v2}},
      {"torch._utils._rebuild_tensor_v3", {7, 8, rebuild_tensor_v3}},
      {"torch._utils._rebuild_parameter", {3, 3, rebuild_parameter}},
      {"torch.Size", {1, 1, size}},
      {"collections.OrderedDict", {0, 1, ordered_dict}},
      {"collections.defaultdict", {0, 1, default_dict}},
      {"collections.Counter", {1, 1, counter}},
      {"builtins.set", {1, 1, set}},
      {"__builtin__.set", {1, 1, set}},
      {"builtins.bytes", {0, 0, empty_bytes}},
      {"__builtin__.bytes", {0, 0, empty_bytes}},
      {"_codecs.encode", {2, 2, encode}},
      {"numpy.dtype", {3, 3, make_array_type}},
      {"numpy._core.multiarray._reconstruct", {3, 3, make_empty_array}},
      {"numpy.core.multiarray._reconstruct", {3, 3, make_empty_array}},
      {"numpy._core.multiarray.scalar", {2, 2, make_array_scalar}},
      {"numpy.core.multiarray.scalar", {2, 2, make_array_scalar}},
  };
  return kFunctions;
}

/// Classes and types that may only be arguments.
bool is_known_argument(std::string_view name) {
  constexpr std::string_view kNames[] = {"numpy.ndarray",        "torch.storage.UntypedStorage",
                                         "torch.UntypedStorage", "builtins.dict",
                                         "builtins.float",       "builtins.int",
                                         "builtins.list",        "__builtin__.dict",
                                         "__builtin__.float",    "__builtin__.int",
                                         "__builtin__.list"};
  for (auto known : kNames) {
    if (name == known) return true;
  }
  if (!name.starts_with("torch.")) return false;
  name.remove_prefix(std::strlen("torch."));
  return pickle_type_of(name) || pickle_type_of_storage(name);
}

}  // namespace

bool is_known_global(std::string_view name) { return functions().contains(name) || is_known_argument(name); }

NodeId call_global(PickleGraph& graph, NodeId function_id, NodeId arguments_id) {
  const auto& name = graph.get<GlobalNode>(function_id, "function").name;
  const auto& arguments = graph.get<SequenceNode>(arguments_id, "tuple of arguments").items;
  auto function = functions().find(name);
  if (function == functions().end()) graph.refuse("its pickle calls ", name, ", which is an unknown function");
  auto [at_least, at_most, call] = function->second;
  if (arguments.size() < at_least || arguments.size() > at_most) {
    graph.refuse("its pickle calls ", name, " with ", arguments.size(), " arguments");
  }
  return call(graph, arguments);
}

void set_state(PickleGraph& graph, NodeId object, NodeId state) {
  auto& node = graph[object];
  if (auto* type = std::get_if<ArrayTypeNode>(&node)) return set_array_type_state(graph, *type, state);
  if (std::holds_alternative<EmptyArrayNode>(node)) {
    node = PickleValue(make_array(graph, state));
    return;
  }
  // The attributes of a state dict (`_metadata`) contain the versions of its modules, which are not used here.
  auto* dict = std::get_if<MappingNode>(&node);
  if (!dict || dict->kind != ValueKind::OrderedDict)
    graph.refuse("its pickle sets attributes of an object that has none");
}

NodeId storage_of(PickleGraph& graph, NodeId persistent_id) {
  const auto& parts = graph.get<SequenceNode>(persistent_id, "persistent id").items;
  if (parts.size() < 5 || graph.text(parts[0]) != "storage") graph.refuse("its pickle has an unknown persistent id");
  const auto& name = graph.get<GlobalNode>(parts[1], "storage class").name;
  bool is_untyped = name == "torch.storage.UntypedStorage" || name == "torch.UntypedStorage";
  auto* type = is_untyped ? nullptr : pickle_type_of_storage(name.substr(std::min(name.size(), std::strlen("torch."))));
  if (!type && !is_untyped) graph.refuse("its pickle has ", name, " instead of a storage class");
  int64_t elements = graph.integer(parts[4]);
  uint64_t bytes = 0;
  if (elements < 0 || __builtin_mul_overflow(static_cast<uint64_t>(elements), type ? type->bytes : 1, &bytes)) {
    graph.refuse("a storage of ", elements, " elements is invalid");
  }
  return graph.add(StorageNode{graph.text(parts[2]), bytes, type});
}

}  // namespace accelerate::formats
