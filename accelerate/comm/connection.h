#pragma once

// The engine behind a Group of several ranks: c10d's process group and store. For the files that hand libtorch's own
// algorithms a process group; everybody else talks to Group.

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "accelerate/comm/flight_recorder.h"
#include "accelerate/comm/group.h"
#include "accelerate/comm/heartbeat.h"
#include "accelerate/comm/watchdog.h"
#include "accelerate/shared_memory/machines.h"

namespace accelerate::comm {

class SharedMemoryBackend;

/// What carries tensors of the CPU between ranks.
enum class Transport {
  Auto,          // the first of these that the ranks can have
  SharedMemory,  // all ranks are on one machine; or an Error
  Hierarchical,  // shared memory on each machine, Gloo between them
  Gloo,
};

/// The name by which PartialState::backend() and ACCELERATE_COMM know it: auto, shm, hierarchical, gloo.
const char* to_string(Transport transport);

class Group::Connection {
 public:
  struct Options {
    Transport transport = Transport::Auto;
    std::chrono::milliseconds timeout = std::chrono::minutes(30);
    bool debug = false;
    bool use_nccl = false;                                 // a second backend, for tensors on a CUDA device
    std::string local_address;                             // what peers connect to
    std::optional<int> core_sharers = std::nullopt;        // ranks that run on this one's cores; else all
    std::vector<int> names = {};                           // by rank: what messages call it, if not by that number
    std::optional<Heartbeat> main_process = std::nullopt;  // that hosts the store, if not this group's rank 0
  };

  /// Connects the ranks that share `store`. Collective.
  Connection(c10::intrusive_ptr<c10d::Store> store, int rank, int size, Options options);

  const c10::intrusive_ptr<c10d::ProcessGroup>& process_group() const { return process_group_; }
  const Options& options() const { return options_; }
  Transport transport() const { return transport_; }  // that was chosen
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// The rank of the job that is number `rank` here.
  std::string name_of(int rank) const;

  /// The number of the next sub-group: all ranks count all of them, so that each has keys of its own in the store.
  int count_subgroup() { return num_subgroups_++; }

  /// Connects `ranks` of this group, in that order, by what connects this group. Collective for them.
  std::shared_ptr<Connection> connect_subgroup(int number, const std::vector<int>& ranks) const;

  /// Waits for a collective on `tensor`, which may be undefined. What goes wrong is an Error that names this rank, the
  /// operation and the ranks that were missing; after a time-out or a mismatch the last collectives are written to
  /// standard error. `by_all` is false for an operation that can end here before all ranks have begun it.
  void wait(const std::string& operation, const at::Tensor& tensor,
            const std::function<c10::intrusive_ptr<c10d::Work>()>& start, bool by_all = true);

  /// Calls `work`, in which libtorch sends about `bytes` between the ranks. When that fails, the Error is as wait()'s,
  /// and where other ranks did something else, it says what each did; what `work` throws for other reasons passes
  /// unchanged.
  void run_recorded(const std::string& operation, int64_t bytes, const std::function<void()>& work, bool by_all = true);

 private:
  c10::intrusive_ptr<c10d::Backend> choose_transport();
  std::string describe_self() const;
  c10::intrusive_ptr<SharedMemoryBackend> connect_neighbours(const shared_memory::KeyValueStore& store,
                                                             const shared_memory::Machines& machines) const;
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

/// Gives the group NCCL for CUDA tensors. Throws Error where libtorch was built without it.
void add_nccl_backend(c10d::ProcessGroup& group, const c10::intrusive_ptr<c10d::Store>& store,
                      std::chrono::milliseconds timeout);

}  // namespace accelerate::comm
