#pragma once

// numpy's arrays and scalars in pickles, which hold the state of numpy's generator and now and then a number.

#include <vector>

#include "accelerate/formats/pickle_graph.h"

namespace accelerate::formats {

/// numpy.dtype("u4", align, copy)
NodeId make_array_type(PickleGraph& graph, const std::vector<NodeId>& arguments);

/// Its state (version, byte order, ...) completes a type.
void set_array_type_state(PickleGraph& graph, ArrayTypeNode& type, NodeId state);

/// _reconstruct(numpy.ndarray, (0,), b"b")
NodeId make_empty_array(PickleGraph& graph, const std::vector<NodeId>& arguments);

/// The array that the state (version, shape, type, is in Fortran's order, bytes) describes.
NumpyArray make_array(PickleGraph& graph, NodeId state);

/// scalar(type, bytes), which is a plain number afterwards.
NodeId make_array_scalar(PickleGraph& graph, const std::vector<NodeId>& arguments);

}  // namespace accelerate::formats
