#pragma once

// Emulates the few Python functions that a pickle may name; Python is never called. They read and create nodes of a
// PickleGraph. calls.cpp has those of torch and collections, arrays.cpp those of numpy: checkpoints hold the state of
// numpy's generator.

#include <string_view>
#include <vector>

#include "accelerate/formats/pickle/graph.h"

namespace accelerate::formats {

/// Whether a pickle may name this function, class or type.
bool is_known_global(std::string_view name);

/// Calls the function with a tuple of arguments and returns the resulting object.
NodeId call_global(PickleGraph& graph, NodeId function, NodeId arguments);

/// Sets the state of an object, like its class's __setstate__.
void set_state(PickleGraph& graph, NodeId object, NodeId state);

/// The storage for a persistent id (a tuple).
NodeId storage_of(PickleGraph& graph, NodeId persistent_id);

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
