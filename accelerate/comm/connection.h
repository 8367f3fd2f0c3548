#pragma once

// The connection of a Group of several ranks: c10d's process group and store. For files that pass a process group to
// libtorch's own algorithms; other code uses Group.

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "accelerate/comm/failures/flight_recorder.h"
#include "accelerate/comm/failures/watchdog.h"
#include "accelerate/comm/group.h"
#include "accelerate/comm/topology.h"

namespace accelerate::comm {

class SharedMemoryBackend;

/// How CPU tensors are sent between ranks.
enum class Transport {
  Auto,          // the first of these that is available
  SharedMemory,  // throws Error unless all ranks are on one machine
  Hierarchical,  // shared memory on each machine, Gloo between them
  Gloo,
};

/// The name in PartialState::backend() and ACCELERATE_COMM: auto, shm, hierarchical, gloo.
const char* to_string(Transport transport);

class Group::Connection {
 public:
  struct Options {
    Transport transport = Transport::Auto;
    std::chrono::milliseconds timeout = std::chrono::minutes(30);
    bool debug = false;
    bool use_nccl = false;                          // adds a backend for tensors on CUDA devices
    std::string local_address = {};                 // where peers connect to
    std::shared_ptr<const Topology> topology = {};  // of the job; required
    std::vector<int> names = {};                    // by rank: its number in the job; empty if the same
  };

  /// Connects the ranks that share `store`. Collective.
  Connection(c10::intrusive_ptr<c10d::Store> store, int rank, int size, Options options);

  const c10::intrusive_ptr<c10d::ProcessGroup>& process_group() const { return process_group_; }
  const Options& options() const { return options_; }
  Transport transport() const { return transport_; }  // the chosen one, not Auto
  int rank() const { return rank_; }
  int size() const { return size_; }

  const Topology& topology() const { return *options_.topology; }  // of the job

  /// The number in the job of this group's `rank`, for messages.
  std::string name_of(int rank) const;

  /// The number of the next subgroup. All ranks count every subgroup, so that each has its own keys in the store.
  int count_subgroup() { return num_subgroups_++; }

  /// Connects `ranks` of this group, in that order. Uses Gloo if this group does, else the first available transport.
  /// Collective for these ranks.
  std::shared_ptr<Connection> connect_subgroup(int number, const std::vector<int>& ranks) const;

  /// Starts a collective on `tensor`, which may be undefined, and waits for it. Throws Error on failure, naming this
  /// rank, the operation and the missing ranks; after a time-out or a mismatch also writes the last collectives to
  /// standard error. `by_all` is false if the operation can end here before all ranks have begun it.
  void wait(const std::string& operation, const at::Tensor& tensor,
            const std::function<c10::intrusive_ptr<c10d::Work>()>& start, bool by_all = true);

  /// Calls `work`, in which libtorch sends about `bytes` between the ranks, and records it as one collective. If the
  /// transport fails, throws Error as wait() does. If the ranks called different collectives, the Error says what each
  /// called. Other exceptions of `work` pass unchanged.
  void run_recorded(const std::string& operation, int64_t bytes, const std::function<void()>& work, bool by_all = true);

 private:
  c10::intrusive_ptr<c10d::Backend> choose_transport();
  std::string describe_self() const;
  std::vector<int> job_ranks() const;
  bool may_share_memory() const;
  c10::intrusive_ptr<SharedMemoryBackend> connect_local_ranks(const Machines& machines) const;
  [[noreturn]] void fail_without(int64_t number, const std::exception& error);

  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::ProcessGroup> process_group_;
  Options options_;
  Transport transport_ = Transport::Gloo;
  int rank_;
  int size_;
  int num_subgroups_ = 0;
  FlightRecorder recorder_;
  std::optional<Watchdog> watchdog_;
};

/// Adds NCCL for CUDA tensors to the group. Throws Error if libtorch was built without it.
void add_nccl_backend(c10d::ProcessGroup& group, const c10::intrusive_ptr<c10d::Store>& store,
                      std::chrono::milliseconds timeout);

}  // namespace accelerate::comm
