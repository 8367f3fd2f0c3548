#pragma once

// numpy arrays and scalars in pickles: they hold the state of numpy's generator, and occasionally a number.

#include <vector>

#include "accelerate/formats/pickle_graph.h"

namespace accelerate::formats {

/// numpy.dtype("u4", align, copy)
NodeId make_array_type(PickleGraph& graph, const std::vector<NodeId>& arguments);

/// Completes a type with its state (version, byte order, ...).
void set_array_type_state(PickleGraph& graph, ArrayTypeNode& type, NodeId state);

/// _reconstruct(numpy.ndarray, (0,), b"b")
NodeId make_empty_array(PickleGraph& graph, const std::vector<NodeId>& arguments);

/// The array described by the state (version, shape, type, is in Fortran order, bytes).
NumpyArray make_array(PickleGraph& graph, NodeId state);

/// scalar(type, bytes). Returns a plain number.
NodeId make_array_scalar(PickleGraph& graph, const std::vector<NodeId>& arguments);

}  // namespace accelerate::formats
