#pragma once

// What the few Python functions do that a pickle may name. Each is done here, on the graph; Python is never called.

#include <string_view>

#include "accelerate/formats/pickle_graph.h"

namespace accelerate::formats {

/// Whether a pickle may name this function, class or type.
bool is_known_global(std::string_view name);

/// The object that the function makes of its arguments, a tuple.
NodeId call_global(PickleGraph& graph, NodeId function, NodeId arguments);

/// Gives an object its state, as its class's __setstate__ would.
void set_state(PickleGraph& graph, NodeId object, NodeId state);

/// The storage that a persistent id (a tuple) stands for.
NodeId storage_of(PickleGraph& graph, NodeId persistent_id);

}  // namespace accelerate::formats
