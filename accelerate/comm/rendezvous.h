#pragma once

// How the processes of a job find each other: a store that rank 0 (or torchrun's agent) hosts, and a first exchange
// that makes sure that all who meet there belong to the same job.

#include <chrono>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "accelerate/comm/process_environment.h"

namespace accelerate::comm {

/// Connects to the job's store, hosting it where this rank has to. Throws Error naming the address when the port is
/// taken, refused, unreachable or not resolved within `timeout`.
c10::intrusive_ptr<c10d::Store> open_store(const ProcessEnvironment& process, std::chrono::milliseconds timeout);

/// Exchanges world size, run id and version of the library, and claims this rank. Collective. Throws Error on every
/// rank as soon as two disagree, naming both values, or when ranks are missing after `timeout`, naming them.
void verify_job(c10d::Store& store, const ProcessEnvironment& process, std::chrono::milliseconds timeout);

}  // namespace accelerate::comm
