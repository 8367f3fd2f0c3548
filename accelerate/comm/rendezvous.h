#pragma once

// The rendezvous of a job: each rank publishes its card once, and all ranks verify that they belong to the same job.

#include <chrono>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "accelerate/comm/process_environment.h"
#include "accelerate/comm/topology.h"

namespace accelerate::comm {

/// The card of this rank. Reads the machine, the network namespace and the cores of this process.
RankCard make_card(const ProcessEnvironment& process);

/// Claims this rank, all-gathers the cards, and compares world size, run id and library version. Collective; returns
/// the topology of the job. Throws Error on every rank as soon as two disagree, with both values, or if ranks are
/// missing after `timeout`, with their numbers.
Topology verify_ranks(c10d::Store& store, const ProcessEnvironment& process, const RankCard& own,
                      std::chrono::milliseconds timeout);

}  // namespace accelerate::comm
