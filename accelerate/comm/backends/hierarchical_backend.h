#pragma once

// c10d's collectives for several machines with several ranks each: shared memory within a machine, Gloo between them.
// An all-reduce is a reduce-scatter within each machine, an all-reduce between machines, and an all-gather within, so
// that data crosses the network once per machine. Private to this room.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "accelerate/comm/backends/shared_memory_backend.h"
#include "accelerate/comm/topology.h"

namespace accelerate::comm {

/// All-reduce, broadcast, all-gather and barrier use two levels. Operations that gain nothing by it use the flat group.
/// A reduction adds up the ranks of a machine in rank order, then the machines; every rank gets the same bits.
///
/// One thread runs the two-level collectives in the order of the calls, so that communication overlaps computation. If
/// one fails on a rank, for any reason, that rank closes both levels: the other ranks fail at once too, and so do all
/// further calls.
class HierarchicalBackend : public c10d::Backend {
 public:
  using Tensors = std::vector<at::Tensor>;
  using TensorLists = std::vector<std::vector<at::Tensor>>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  struct Levels {
    c10::intrusive_ptr<SharedMemoryBackend> intra_node;  // the ranks of this machine
    c10::intrusive_ptr<c10d::Backend> inter_node;        // one rank per machine: those with the index of this one
  };

  /// All `machines` have the same number of ranks. `flat` connects all ranks.
  HierarchicalBackend(Machines machines, Levels levels, c10::intrusive_ptr<c10d::Backend> flat);
  ~HierarchicalBackend() override;

  const std::string getBackendName() const override { return "hierarchical"; }
  c10::intrusive_ptr<Options> getBackendOptions() override { return flat_->getBackendOptions(); }
  void setTimeout(std::chrono::milliseconds timeout) override;

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override;
  WorkPtr allgather(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) override;
  WorkPtr barrier(const c10d::BarrierOptions& options) override;

  WorkPtr allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    return flat_->allreduce_sparse(tensors, options);
  }
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override {
    return flat_->reduce(tensors, options);
  }
  WorkPtr allgather_coalesced(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override {
    return flat_->allgather_coalesced(outputs, inputs, options);
  }
  WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& options) override {
    return flat_->allgather_into_tensor_coalesced(outputs, inputs, options);
  }
  WorkPtr gather(TensorLists& outputs, Tensors& inputs, const c10d::GatherOptions& options) override {
    return flat_->gather(outputs, inputs, options);
  }
  WorkPtr scatter(Tensors& outputs, TensorLists& inputs, const c10d::ScatterOptions& options) override {
    return flat_->scatter(outputs, inputs, options);
  }
  WorkPtr reduce_scatter(Tensors& outputs, TensorLists& inputs, const c10d::ReduceScatterOptions& options) override {
    return flat_->reduce_scatter(outputs, inputs, options);
  }
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override {
    return flat_->_reduce_scatter_base(output, input, options);
  }
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::ReduceScatterOptions& options) override {
    return flat_->reduce_scatter_tensor_coalesced(outputs, inputs, options);
  }
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                        std::vector<int64_t>& input_splits, const c10d::AllToAllOptions& options) override {
    return flat_->alltoall_base(output, input, output_splits, input_splits, options);
  }
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) override {
    return flat_->alltoall(outputs, inputs, options);
  }
  WorkPtr send(Tensors& tensors, int to, int tag) override { return flat_->send(tensors, to, tag); }
  WorkPtr recv(Tensors& tensors, int from, int tag) override { return flat_->recv(tensors, from, tag); }
  WorkPtr recvAnysource(Tensors& tensors, int tag) override { return flat_->recvAnysource(tensors, tag); }
  void monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) override {
    flat_->monitoredBarrier(options, wait_all_ranks);
  }
  void setSequenceNumberForGroup() override { flat_->setSequenceNumberForGroup(); }
  uint64_t getSequenceNumberForGroup() override { return flat_->getSequenceNumberForGroup(); }

  /// Allocates memory that the first level reduces in place. The Reducer allocates its buckets here.
  bool supportsTensorAlloc(c10::DeviceIndex device) override { return levels_.intra_node->supportsTensorAlloc(device); }
  at::Tensor allocateTensor(long size, at::TensorOptions options) override {
    return levels_.intra_node->allocateTensor(size, options);
  }

 private:
  class Task;

  /// Queues `run`, which may use the levels, for the thread. `results` are the results of the returned Work.
  WorkPtr enqueue(c10d::OpType type, Tensors results, std::function<void()> run);
  void work();
  void close_levels();

  void reduce_everywhere(at::Tensor& tensor, const c10d::AllreduceOptions& options);
  /// All-gathers the inputs, as [index on the machine, machine, element].
  at::Tensor gather_everywhere(const at::Tensor& input, const c10d::AllgatherOptions& options);

  Machines machines_;
  Levels levels_;
  c10::intrusive_ptr<c10d::Backend> flat_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<c10::intrusive_ptr<Task>> tasks_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace accelerate::comm
