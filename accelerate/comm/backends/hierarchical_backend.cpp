#include "accelerate/comm/backends/hierarchical_backend.h"

#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/Functions.h>

#include "accelerate/base/error.h"
#include "accelerate/base/thread_without_signals.h"
#include "accelerate/comm/backends/tensor_arrays.h"

namespace accelerate::comm {

namespace {

/// Throws if one of the levels cannot reduce the values. Checked before either starts: a rank that fails in one level
/// would leave others waiting in the other, and end the group.
void check_levels(const at::Tensor& tensor, const c10d::ReduceOp& operation) {
  check_reduction(tensor, operation);
  if (tensor.scalar_type() == at::kShort) {
    fail(
        "int16 values cannot be reduced between machines, because Gloo does not support them; convert them to int32 "
        "first");
  }
}

/// Gloo does not support all types, but can send any as bytes.
at::Tensor view_as_bytes(const at::Tensor& contiguous) { return contiguous.view(-1).view(at::kByte); }

}  // namespace

/// A queued collective and its completion.
class HierarchicalBackend::Task : public c10d::Work {
 public:
  Task(int rank, c10d::OpType type, Tensors results, std::function<void()> run)
      : Work(rank, type),
        results_(std::move(results)),
        run_(std::move(run)),
        future_(c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))) {}

  Tensors result() override { return results_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

  void run() { std::exchange(run_, nullptr)(); }
  void succeed() {
    finish();
    future_->markCompleted(c10::IValue(results_));
  }
  void fail_with(std::exception_ptr error) {
    finish(error);
    future_->setError(error);
  }

 private:
  Tensors results_;
  std::function<void()> run_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

HierarchicalBackend::HierarchicalBackend(Machines machines, Levels levels, c10::intrusive_ptr<c10d::Backend> flat)
    : Backend(flat->getRank(), flat->getSize()),
      machines_(std::move(machines)),
      levels_(std::move(levels)),
      flat_(std::move(flat)),
      thread_(thread_without_signals([this] { work(); })) {
  init();
}

HierarchicalBackend::~HierarchicalBackend() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void HierarchicalBackend::setTimeout(std::chrono::milliseconds timeout) {
  flat_->setTimeout(timeout);
  enqueue(c10d::OpType::UNKNOWN, {}, [this, timeout] {
    levels_.intra_node->setTimeout(timeout);
    levels_.inter_node->setTimeout(timeout);
  })->wait();
}

HierarchicalBackend::WorkPtr HierarchicalBackend::enqueue(c10d::OpType type, Tensors results,
                                                          std::function<void()> run) {
  auto task = c10::make_intrusive<Task>(rank_, type, std::move(results), std::move(run));
  {
    std::lock_guard lock(mutex_);
    tasks_.push_back(task);
  }
  changed_.notify_one();
  return task;
}

void HierarchicalBackend::work() {
  at::NoGradGuard no_gradients;
  std::exception_ptr failure;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    try {
      if (failure) std::rethrow_exception(failure);
      task->run();
      task->succeed();
    } catch (...) {
      if (!failure) close_levels();
      failure = std::current_exception();
      task->fail_with(failure);
    }
    lock.lock();
  }
}

/// Gloo closes its sockets on destruction, which its peers notice.
void HierarchicalBackend::close_levels() {
  levels_.intra_node->abort();
  levels_.inter_node.reset();
}

void HierarchicalBackend::reduce_everywhere(at::Tensor& tensor, const c10d::AllreduceOptions& options) {
  // Gloo has no average: sum the averages of the machines and divide by the number of machines.
  bool average = options.reduceOp == c10d::ReduceOp::AVG;
  levels_.intra_node->allreduce(tensor, options, [&](at::Tensor& slice) {
    Tensors slices{slice};
    auto further = options;
    if (average) further.reduceOp = c10d::ReduceOp::SUM;
    levels_.inter_node->allreduce(slices, further)->wait();
    if (average) slice.div_(static_cast<int64_t>(machines_.size()));
  });
}

HierarchicalBackend::WorkPtr HierarchicalBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  if (only(tensors).layout() != at::kStrided) return flat_->allreduce(tensors, options);
  check_levels(tensors[0], options.reduceOp);
  return enqueue(c10d::OpType::ALLREDUCE, tensors,
                 [this, tensor = tensors[0], options]() mutable { reduce_everywhere(tensor, options); });
}

HierarchicalBackend::WorkPtr HierarchicalBackend::allreduce_coalesced(Tensors& tensors,
                                                                      const c10d::AllreduceCoalescedOptions& options) {
  for (const auto& tensor : tensors) check_levels(tensor, options.reduceOp);
  return enqueue(c10d::OpType::ALLREDUCE_COALESCED, tensors, [this, tensors, options]() mutable {
    for (auto& tensor : tensors) reduce_everywhere(tensor, options);
  });
}

HierarchicalBackend::WorkPtr HierarchicalBackend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  auto root = place_of(machines_, static_cast<int>(options.rootRank));
  return enqueue(c10d::OpType::BROADCAST, tensors, [this, tensor = only(tensors), root, options] {
    ContiguousTensor whole(tensor);
    Tensors bytes{view_as_bytes(whole.tensor())};
    auto level = options;
    if (place_of(machines_, rank_).number == root.number) {
      level.rootRank = root.machine;
      levels_.inter_node->broadcast(bytes, level)->wait();
    }
    level.rootRank = root.number;
    levels_.intra_node->broadcast(bytes, level);
    whole.copy_back();
  });
}

at::Tensor HierarchicalBackend::gather_everywhere(const at::Tensor& input, const c10d::AllgatherOptions& options) {
  auto num_machines = static_cast<int64_t>(machines_.size());
  auto ranks_of_each = static_cast<int64_t>(machines_[0].size());
  auto own = view_as_bytes(input.contiguous());
  auto like_own = at::empty({num_machines * own.numel()}, own.options());
  auto all = at::empty({ranks_of_each * like_own.numel()}, own.options());
  if (own.numel() > 0) {
    levels_.inter_node->_allgather_base(like_own, own, options)->wait();
    levels_.intra_node->_allgather_base(all, like_own, options);
  }
  return all.view(input.scalar_type()).view({ranks_of_each, num_machines, input.numel()});
}

HierarchicalBackend::WorkPtr HierarchicalBackend::allgather(TensorLists& outputs, Tensors& inputs,
                                                            const c10d::AllgatherOptions& options) {
  PerRankTensors(only(outputs), size_, ContiguousTensor(only(inputs)));  // throws if they do not fit
  return enqueue(c10d::OpType::ALLGATHER, outputs[0], [this, parts = outputs[0], input = inputs[0], options] {
    auto all = gather_everywhere(input, options);
    for (int rank = 0; rank < size_; ++rank) {
      auto place = place_of(machines_, rank);
      parts[rank].copy_(all[place.number][place.machine].view_as(parts[rank]));
    }
  });
}

HierarchicalBackend::WorkPtr HierarchicalBackend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                                  const c10d::AllgatherOptions& options) {
  (void)ContiguousTensor(output).parts(size_, ContiguousTensor(input));  // throws if they do not fit
  return enqueue(c10d::OpType::_ALLGATHER_BASE, {output}, [this, output, input, options] {
    auto all = gather_everywhere(input, options);
    ContiguousTensor whole(output);
    auto rows = whole.tensor().view({size_, input.numel()});
    for (int rank = 0; rank < size_; ++rank) {
      auto place = place_of(machines_, rank);
      rows[rank].copy_(all[place.number][place.machine]);
    }
    whole.copy_back();
  });
}

HierarchicalBackend::WorkPtr HierarchicalBackend::barrier(const c10d::BarrierOptions& options) {
  // After the first barrier all ranks of this machine have arrived; after the second, the ranks of all machines.
  return enqueue(c10d::OpType::BARRIER, {}, [this, options] {
    levels_.intra_node->barrier(options);
    levels_.inter_node->barrier(options)->wait();
  });
}

}  // namespace accelerate::comm
