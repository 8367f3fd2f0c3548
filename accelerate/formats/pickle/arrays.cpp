#include "accelerate/formats/pickle/calls.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace accelerate::formats {

namespace {

constexpr std::array<std::string_view, 14> kNumberTypes = {"b1", "i1", "i2", "i4", "i8", "u1", "u2",
                                                           "u4", "u8", "f2", "f4", "f8", "c8", "c16"};

/// The element size of a complete type such as "<u4".
size_t element_bytes(std::string_view type) { return std::stoul(std::string(type.substr(2))); }

const std::string& finished_type(PickleGraph& graph, NodeId id) {
  const auto& type = graph.get<ArrayTypeNode>(id, "numpy type").type;
  if (std::find(kNumberTypes.begin(), kNumberTypes.end(), type.substr(1)) == kNumberTypes.end()) {
    graph.refuse("its pickle has a numpy type without a byte order");
  }
  return type;
}

template <class Number>
PickleValue number_of(const std::string& bytes) {
  Number number{};
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

}  // namespace

NodeId make_array_type(PickleGraph& graph, const std::vector<NodeId>& arguments) {
  const auto& name = graph.text(arguments[0]);
  if (std::find(kNumberTypes.begin(), kNumberTypes.end(), name) == kNumberTypes.end()) {
    graph.refuse("numpy arrays of type '", printable(name), "' are not supported");
  }
  return graph.add(ArrayTypeNode{name});
}

void set_array_type_state(PickleGraph& graph, ArrayTypeNode& type, NodeId state) {
  const auto& parts = graph.get<SequenceNode>(state, "state of a numpy type").items;
  auto order = parts.size() < 2 ? "" : graph.text(parts[1]);
  if (order != "<" && order != "|")
    graph.refuse("numpy arrays in the byte order '", printable(order), "' are not supported");
  if (std::find(kNumberTypes.begin(), kNumberTypes.end(), type.type) == kNumberTypes.end()) {
    graph.refuse("its pickle gives a numpy type two byte orders");
  }
  type.type = order + type.type;
}

NodeId make_empty_array(PickleGraph& graph, const std::vector<NodeId>& arguments) {
  if (graph.get<GlobalNode>(arguments[0], "numpy class").name != "numpy.ndarray") {
    graph.refuse("its pickle creates a numpy array of a class other than ndarray");
  }
  return graph.add(EmptyArrayNode{});
}

NumpyArray make_array(PickleGraph& graph, NodeId state) {
  const auto& parts = graph.get<SequenceNode>(state, "state of a numpy array").items;
  if (parts.size() != 5) graph.refuse("its pickle has a numpy array with a state of ", parts.size(), " parts");
  NumpyArray array{.type = finished_type(graph, parts[2]),
                   .shape = graph.integers(parts[1]),
                   .fortran_order = graph.boolean(parts[3]),
                   .data = graph.bytes(parts[4])};
  uint64_t wanted = element_bytes(array.type);
  bool is_possible = true;
  for (int64_t size : array.shape) {
    is_possible &= size >= 0 && !__builtin_mul_overflow(wanted, static_cast<uint64_t>(size), &wanted);
  }
  if (!is_possible || wanted != array.data.size()) {
    graph.refuse("a numpy array has ", array.data.size(), " bytes, which does not match its shape");
  }
  return array;
}

NodeId make_array_scalar(PickleGraph& graph, const std::vector<NodeId>& arguments) {
  const auto& type = finished_type(graph, arguments[0]);
  const auto& bytes = graph.bytes(arguments[1]);
  if (bytes.size() != element_bytes(type))
    graph.refuse("a numpy scalar of type ", type, " has ", bytes.size(), " bytes");
  auto name = type.substr(1);
  if (name == "b1") return graph.add(PickleValue(bytes[0] != 0));
  if (name == "i1") return graph.add(number_of<int8_t>(bytes));
  if (name == "i2") return graph.add(number_of<int16_t>(bytes));
  if (name == "i4") return graph.add(number_of<int32_t>(bytes));
  if (name == "i8") return graph.add(number_of<int64_t>(bytes));
  if (name == "u1") return graph.add(number_of<uint8_t>(bytes));
  if (name == "u2") return graph.add(number_of<uint16_t>(bytes));
  if (name == "u4") return graph.add(number_of<uint32_t>(bytes));
  if (name == "u8") return graph.add(number_of<uint64_t>(bytes));
  if (name == "f4") return graph.add(number_of<float>(bytes));
  if (name == "f8") return graph.add(number_of<double>(bytes));
  graph.refuse("a numpy scalar of type ", type, " is not supported");
}

}  // namespace accelerate::formats
