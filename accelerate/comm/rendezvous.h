#pragma once

// The rendezvous of a job: a store hosted by rank 0 or torchrun's agent, and a first exchange that verifies that all
// ranks belong to the same job.

#include <chrono>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "accelerate/comm/process_environment.h"

namespace accelerate::comm {

/// Connects to the job's store, and hosts it if this rank has to. Throws Error naming the address if the port is taken,
/// or if the store is refused, unreachable or not resolved within `timeout`.
c10::intrusive_ptr<c10d::Store> open_store(const ProcessEnvironment& process, std::chrono::milliseconds timeout);

/// Compares world size, run id and library version across ranks, and claims this rank. Collective. Throws Error on
/// every rank as soon as two disagree, with both values, or if ranks are missing after `timeout`, with their numbers.
void verify_job(c10d::Store& store, const ProcessEnvironment& process, std::chrono::milliseconds timeout);

}  // namespace accelerate::comm
