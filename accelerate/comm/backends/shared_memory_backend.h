#pragma once

// c10d's collectives for ranks of one machine, through shared memory. libtorch's algorithms on process groups (the
// Reducer, broadcast_coalesced) work on it unchanged. Private to this room.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "accelerate/comm/reduction_watch.h"
#include "accelerate/comm/shared_zeros.h"
#include "accelerate/comm/topology.h"
#include "accelerate/shared_memory/all_gather_slices.h"
#include "accelerate/shared_memory/collectives.h"
#include "accelerate/shared_memory/local_group.h"
#include "accelerate/shared_memory/shared_zeros.h"

namespace accelerate::comm {

/// Collectives are synchronous: the returned Work is complete. A send returns when its message is copied; a receive
/// waits in Work::wait. Reductions, also of sparse tensors, add up in rank order, with the same bits in every run.
/// float16 and bfloat16 are added in float32. Throws shared_memory::PeerError if a rank is gone or missing.
class SharedMemoryBackend : public c10d::Backend {
 public:
  using Tensors = std::vector<at::Tensor>;
  using TensorLists = std::vector<std::vector<at::Tensor>>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  SharedMemoryBackend(std::unique_ptr<shared_memory::LocalGroup> group, std::chrono::milliseconds timeout);
  ~SharedMemoryBackend() override;

  const std::string getBackendName() const override { return "shm"; }
  c10::intrusive_ptr<Options> getBackendOptions() override;
  void setTimeout(std::chrono::milliseconds timeout) override { timeout_ = timeout; }

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;

  /// All-reduce with a step between reduce-scatter and all-gather: `between` gets this rank's reduced slice, a
  /// one-dimensional tensor, and may reduce it further with other groups. It is not called on ranks whose slice is
  /// empty.
  void allreduce(at::Tensor& tensor, const c10d::AllreduceOptions& options,
                 const std::function<void(at::Tensor& slice)>& between);

  WorkPtr allgather(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_coalesced(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& options) override;

  WorkPtr gather(TensorLists& outputs, Tensors& inputs, const c10d::GatherOptions& options) override;
  WorkPtr scatter(Tensors& outputs, TensorLists& inputs, const c10d::ScatterOptions& options) override;

  WorkPtr reduce_scatter(Tensors& outputs, TensorLists& inputs, const c10d::ReduceScatterOptions& options) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::ReduceScatterOptions& options) override;

  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                        std::vector<int64_t>& input_splits, const c10d::AllToAllOptions& options) override;
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) override;

  /// The backend of a connection if it is this one, else null. The connection owns it.
  static SharedMemoryBackend* of(const Group::Connection& connection);

  /// See comm::all_gather_slices; c10d has no such collective. `arrays` are the bytes of the tensors.
  void all_gather_slices(const std::vector<std::span<std::byte>>& arrays, const SlicePlan& plan,
                         const std::function<void(size_t round)>& compute);

  /// See comm::memory_access. Not set before probe_memory(), which is collective.
  const std::optional<MemoryAccess>& memory_access() const { return memory_access_; }
  void probe_memory();

  /// See shared_memory::shared_zeros.
  std::shared_ptr<shared_memory::Segment> shared_zeros(size_t bytes, const std::vector<shared_memory::Range>& own);

  /// Whether `tensor` is in memory from allocateTensor().
  bool holds(const at::Tensor& tensor) const;

  /// See comm::ReductionWatch. Returns the handle for unwatch().
  int64_t watch(const at::Tensor& tensor, ReductionWatch::Options options);
  void unwatch(int64_t number);

  WorkPtr send(Tensors& tensors, int to, int tag) override;
  WorkPtr recv(Tensors& tensors, int from, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;

  WorkPtr barrier(const c10d::BarrierOptions& options) override;
  void monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) override;

  /// Fails the group: ranks that wait for this one throw, and so do all further calls.
  void abort() override;

  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override { return num_operations_; }

  /// Allocates memory that is reduced in place. The Reducer allocates its buckets here. It may outlive the group.
  bool supportsTensorAlloc(c10::DeviceIndex) override { return true; }
  at::Tensor allocateTensor(long size, at::TensorOptions options) override;

 private:
  class Receive;

  struct Watch {
    const void* data = nullptr;
    size_t bytes = 0;
    ReductionWatch::Options options;
  };

  static WorkPtr done(Tensors results);

  /// Runs one collective, on this thread, with the timeout of its options.
  template <class Run>
  void collective(std::chrono::milliseconds timeout, Run run);
  void reduce_everywhere(at::Tensor& tensor, const c10d::AllreduceOptions& options);
  std::vector<const ReductionWatch::Options*> watches_of(const shared_memory::Array& array) const;
  std::byte* scratch(size_t bytes);
  void add_up_sparse(at::Tensor& tensor, const c10d::AllreduceOptions& options);
  at::Tensor gathered(at::Tensor tensor, std::chrono::milliseconds timeout);
  WorkPtr start_receive(Tensors& tensors, int from, int tag);
  bool finish_receive(Receive& wanted, std::optional<std::chrono::milliseconds> limit);

  std::unique_ptr<shared_memory::LocalGroup> group_;
  std::chrono::milliseconds timeout_;
  uint64_t num_operations_ = 0;
  at::Tensor scratch_;                                    // in the heap, for tensors outside of it
  std::optional<shared_memory::PeerMemory> peer_memory_;  // probed on first use
  std::optional<MemoryAccess> memory_access_;
  std::map<int64_t, Watch> watches_;
  int64_t num_watches_ = 0;
  std::mutex collective_mutex_;
  std::mutex send_mutex_;
  std::mutex receive_mutex_;
  std::deque<Receive*> receives_;  // pending, in the order of the calls
};

/// Adapts a c10d store to the interface of the shared_memory room.
shared_memory::KeyValueStore key_value_store(const c10::intrusive_ptr<c10d::Store>& store);

struct NeighbourOptions {
  std::chrono::milliseconds timeout = std::chrono::minutes(30);
  std::optional<int> core_sharers = std::nullopt;  // ranks that share this one's cores; all if not set
  std::vector<int> names = {};                     // by rank: its number in the job; empty if the same
};

/// Connects the ranks of each machine. Collective for all ranks of the job; the outcome is the same on every rank.
/// Throws Error if the ranks of any machine cannot share memory.
c10::intrusive_ptr<SharedMemoryBackend> connect_through_memory(const shared_memory::KeyValueStore& store,
                                                               const Machines& machines, int rank,
                                                               const NeighbourOptions& options);

}  // namespace accelerate::comm
