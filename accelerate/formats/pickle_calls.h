#pragma once

// Emulates the few Python functions that a pickle may name, on the graph. Python is never called.

#include <string_view>

#include "accelerate/formats/pickle_graph.h"

namespace accelerate::formats {

/// Whether a pickle may name this function, class or type.
bool is_known_global(std::string_view name);

/// Calls the function with a tuple of arguments and returns the resulting object.
NodeId call_global(PickleGraph& graph, NodeId function, NodeId arguments);

/// Sets the state of an object, like its class's __setstate__.
void set_state(PickleGraph& graph, NodeId object, NodeId state);

/// The storage for a persistent id (a tuple).
NodeId storage_of(PickleGraph& graph, NodeId persistent_id);

}  // namespace accelerate::formats
