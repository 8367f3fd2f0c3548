#pragma once

// Parses Slurm's compressed lists of nodes and of tasks per node, and derives the port of a job.

#include <cstdint>
#include <string>

namespace accelerate {

/// The first name of a list of nodes: "gpu[03-07,12],cpu1" begins with "gpu03".
std::string first_slurm_node(const std::string& nodes);

/// The number of tasks on the node with this index: "2(x3),1" is two on each of three nodes and one on the fourth.
/// Throws Error if the list is too short.
int64_t slurm_tasks_on_node(const std::string& tasks, int64_t node);

/// The port of rank 0, derived from the job number: the same on all machines of a job. Jobs that share a node get
/// different ports, unless their numbers are equal modulo 10000.
int slurm_port(int64_t job);

}  // namespace accelerate
