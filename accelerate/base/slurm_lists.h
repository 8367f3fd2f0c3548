#pragma once

// What follows from Slurm's variables: the short forms in which it lists the nodes of a step and the number of tasks on
// each, and the port of a job.

#include <cstdint>
#include <string>

namespace accelerate {

/// The first name of a list of nodes: "gpu[03-07,12],cpu1" begins with "gpu03".
std::string first_slurm_node(const std::string& nodes);

/// The number of tasks on the node with this index: "2(x3),1" is two on each of three nodes and one on the fourth.
/// Throws Error when the list says nothing about it.
int64_t slurm_tasks_on_node(const std::string& tasks, int64_t node);

/// The port of rank 0 in a job of this number: jobs that share a node get ports of their own, and all machines of a job
/// the same.
int slurm_port(int64_t job);

}  // namespace accelerate
