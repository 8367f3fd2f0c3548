#pragma once

// The short forms in which Slurm lists the nodes of a step and the number of tasks on each.

#include <cstdint>
#include <string>

namespace accelerate {

/// The first name of a list of nodes: "gpu[03-07,12],cpu1" begins with "gpu03".
std::string first_slurm_node(const std::string& nodes);

/// The number of tasks on the node with this index: "2(x3),1" is two on each of three nodes and one on the fourth.
/// Throws Error when the list says nothing about it.
int64_t slurm_tasks_on_node(const std::string& tasks, int64_t node);

}  // namespace accelerate
