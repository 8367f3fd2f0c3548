#include "accelerate/comm/backends/shared_memory_backend.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <ATen/Parallel.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "accelerate/base/error.h"
#include "accelerate/comm/backends/tensor_arrays.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/store.h"

namespace accelerate::comm {

namespace shm = shared_memory;

namespace {

/// How long the exchange of segments may take after the rendezvous.
constexpr auto kExchangeTimeout = std::chrono::seconds(60);

/// Runs the rounds on libtorch's threads: one thread does not saturate the memory bandwidth.
void run_rounds(size_t num_rounds, const std::function<void(size_t round)>& run) {
  at::parallel_for(0, static_cast<int64_t>(num_rounds), /*grain_size=*/1, [&](int64_t begin, int64_t end) {
    for (int64_t round = begin; round < end; ++round) run(static_cast<size_t>(round));
  });
}

}  // namespace

SharedMemoryBackend::SharedMemoryBackend(std::unique_ptr<shm::LocalGroup> group, std::chrono::milliseconds timeout)
    : Backend(group->channel().rank(), group->channel().size()), group_(std::move(group)), timeout_(timeout) {
  init();
}

SharedMemoryBackend::~SharedMemoryBackend() = default;

c10::intrusive_ptr<c10d::Backend::Options> SharedMemoryBackend::getBackendOptions() {
  return c10::make_intrusive<Options>(getBackendName(), timeout_);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::done(Tensors results) {
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  future->markCompleted(c10::IValue(std::move(results)));
  return c10d::Work::create_from_future(future);
}

template <class Run>
void SharedMemoryBackend::collective(std::chrono::milliseconds timeout, Run run) {
  std::lock_guard lock(collective_mutex_);
  ++num_operations_;
  group_->channel().set_timeout(timeout == c10d::kUnsetTimeout ? timeout_ : timeout);
  run(group_->channel());
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  ContiguousTensor tensor(only(tensors));
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::broadcast(channel, tensor.array(), static_cast<int>(options.rootRank));
  });
  tensor.copy_back();
  return done(tensors);
}

void SharedMemoryBackend::reduce_everywhere(at::Tensor& tensor, const c10d::AllreduceOptions& options) {
  if (tensor.is_sparse()) return add_up_sparse(tensor, options);
  ContiguousTensor real(as_real(tensor, options.reduceOp));
  auto array = real.array();
  collective(options.timeout, [&](shm::Channel& channel) {
    auto watches = watches_of(array);
    bool with_squares = std::any_of(watches.begin(), watches.end(), [](const auto* each) { return each->sum_squares; });
    auto squares = shm::all_reduce(channel, array, reduction_of(options.reduceOp),
                                   group_->heap()->offset_of(array.data, array.bytes()), with_squares);
    for (const auto* watch : watches) watch->on_reduced(squares);
  });
  real.copy_back();
}

bool SharedMemoryBackend::holds(const at::Tensor& tensor) const {
  return group_->heap()->offset_of(tensor.const_data_ptr(), tensor.nbytes()).has_value();
}

int64_t SharedMemoryBackend::watch(const at::Tensor& tensor, ReductionWatch::Options options) {
  std::lock_guard lock(collective_mutex_);
  watches_.emplace(num_watches_, Watch{tensor.const_data_ptr(), tensor.nbytes(), std::move(options)});
  return num_watches_++;
}

void SharedMemoryBackend::unwatch(int64_t number) {
  std::lock_guard lock(collective_mutex_);
  watches_.erase(number);
}

std::vector<const ReductionWatch::Options*> SharedMemoryBackend::watches_of(const shm::Array& array) const {
  std::vector<const ReductionWatch::Options*> found;
  for (const auto& [number, watch] : watches_) {
    if (watch.data == array.data && watch.bytes == array.bytes()) found.push_back(&watch.options);
  }
  return found;
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  reduce_everywhere(only(tensors), options);
  return done(tensors);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::allreduce_coalesced(Tensors& tensors,
                                                                      const c10d::AllreduceCoalescedOptions& options) {
  for (auto& tensor : tensors) reduce_everywhere(tensor, options);
  return done(tensors);
}

std::byte* SharedMemoryBackend::scratch(size_t bytes) {
  if (!scratch_.defined() || scratch_.nbytes() < bytes) {
    scratch_.reset();  // frees the old block first
    scratch_ = allocateTensor(static_cast<long>(bytes), at::kByte);
  }
  return static_cast<std::byte*>(scratch_.mutable_data_ptr());
}

void SharedMemoryBackend::allreduce(at::Tensor& tensor, const c10d::AllreduceOptions& options,
                                    const std::function<void(at::Tensor& slice)>& between) {
  ContiguousTensor real(as_real(tensor, options.reduceOp));
  auto array = real.array();
  collective(options.timeout, [&](shm::Channel& channel) {
    auto* own = array.data;
    auto heap = group_->heap();
    bool in_heap = heap->offset_of(own, array.bytes()).has_value();
    if (!in_heap) array.data = scratch(array.bytes());
    if (!in_heap && array.count > 0) std::memcpy(array.data, own, array.bytes());
    shm::all_reduce(channel, array, reduction_of(options.reduceOp), *heap->offset_of(array.data, array.bytes()),
                    [&](const shm::Array& slice) {
                      auto elements =
                          at::from_blob(slice.data, {static_cast<int64_t>(slice.count)}, real.tensor().options());
                      between(elements);
                    });
    if (!in_heap && array.count > 0) std::memcpy(own, array.data, array.bytes());
  });
  real.copy_back();
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  ContiguousTensor real(as_real(only(tensors), options.reduceOp));
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::reduce(channel, real.array(), reduction_of(options.reduceOp), static_cast<int>(options.rootRank));
  });
  real.copy_back();
  return done(tensors);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::allgather(TensorLists& outputs, Tensors& inputs,
                                                            const c10d::AllgatherOptions& options) {
  ContiguousTensor input(only(inputs));
  PerRankTensors parts(only(outputs), size_, input);
  collective(options.timeout, [&](shm::Channel& channel) { shm::all_gather(channel, input.array(), parts.arrays()); });
  parts.copy_back();
  return done(outputs[0]);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                                  const c10d::AllgatherOptions& options) {
  ContiguousTensor given(input);
  ContiguousTensor taken(output);
  auto parts = taken.parts(size_, given);
  collective(options.timeout, [&](shm::Channel& channel) { shm::all_gather(channel, given.array(), parts); });
  taken.copy_back();
  return done({output});
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::allgather_coalesced(TensorLists& outputs, Tensors& inputs,
                                                                      const c10d::AllgatherOptions& options) {
  Tensors results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TensorLists parts(1);
    for (auto& of_rank : outputs) parts[0].push_back(of_rank.at(i));
    Tensors input{inputs[i]};
    allgather(parts, input, options);
    results.insert(results.end(), parts[0].begin(), parts[0].end());
  }
  return done(std::move(results));
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::allgather_into_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  for (size_t i = 0; i < inputs.size(); ++i) _allgather_base(outputs.at(i), inputs[i], options);
  return done(outputs);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::gather(TensorLists& outputs, Tensors& inputs,
                                                         const c10d::GatherOptions& options) {
  ContiguousTensor input(only(inputs));
  auto root = static_cast<int>(options.rootRank);
  std::optional<PerRankTensors> parts;
  if (rank_ == root) parts.emplace(only(outputs), size_, input);
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::gather(channel, input.array(), parts ? parts->arrays() : shm::Arrays{}, root);
  });
  if (!parts) return done({});
  parts->copy_back();
  return done(outputs[0]);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::scatter(Tensors& outputs, TensorLists& inputs,
                                                          const c10d::ScatterOptions& options) {
  ContiguousTensor output(only(outputs));
  auto root = static_cast<int>(options.rootRank);
  std::optional<PerRankTensors> parts;
  if (rank_ == root) parts.emplace(only(inputs), size_, output);
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::scatter(channel, parts ? parts->arrays() : shm::Arrays{}, output.array(), root);
  });
  output.copy_back();
  return done(outputs);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::reduce_scatter(Tensors& outputs, TensorLists& inputs,
                                                                 const c10d::ReduceScatterOptions& options) {
  ContiguousTensor output(as_real(only(outputs), options.reduceOp));
  Tensors real;
  for (auto& input : only(inputs)) real.push_back(as_real(input, options.reduceOp));
  PerRankTensors parts(real, size_, output);
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::reduce_scatter(channel, parts.arrays(), output.array(), reduction_of(options.reduceOp));
  });
  output.copy_back();
  return done(outputs);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                                       const c10d::ReduceScatterOptions& options) {
  ContiguousTensor taken(as_real(output, options.reduceOp));
  ContiguousTensor given(as_real(input, options.reduceOp));
  auto parts = given.parts(size_, taken);
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::reduce_scatter(channel, parts, taken.array(), reduction_of(options.reduceOp));
  });
  taken.copy_back();
  return done({output});
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) {
  for (size_t i = 0; i < inputs.size(); ++i) _reduce_scatter_base(outputs.at(i), inputs[i], options);
  return done(outputs);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::alltoall_base(at::Tensor& output, at::Tensor& input,
                                                                std::vector<int64_t>& output_splits,
                                                                std::vector<int64_t>& input_splits,
                                                                const c10d::AllToAllOptions& options) {
  ContiguousTensor given(input);
  ContiguousTensor taken(output);
  auto inputs = given.rows(size_, input_splits);
  auto outputs = taken.rows(size_, output_splits);
  collective(options.timeout, [&](shm::Channel& channel) { shm::all_to_all(channel, inputs, outputs); });
  taken.copy_back();
  return done({output});
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::alltoall(Tensors& outputs, Tensors& inputs,
                                                           const c10d::AllToAllOptions& options) {
  std::vector<ContiguousTensor> given;
  std::vector<ContiguousTensor> taken;
  std::vector<shm::Array> from;
  std::vector<shm::Array> to;
  if (static_cast<int>(inputs.size()) != size_ || static_cast<int>(outputs.size()) != size_) {
    fail("alltoall of ", size_, " ranks needs one tensor per rank; there are ", inputs.size(), " and ", outputs.size());
  }
  for (int rank = 0; rank < size_; ++rank) {
    from.push_back(given.emplace_back(inputs[rank]).array());
    to.push_back(taken.emplace_back(outputs[rank]).array());
  }
  collective(options.timeout, [&](shm::Channel& channel) { shm::all_to_all(channel, from, to); });
  for (const auto& tensor : taken) tensor.copy_back();
  return done(outputs);
}

SharedMemoryBackend* SharedMemoryBackend::of(const Group::Connection& connection) {
  // The process group owns it.
  return dynamic_cast<SharedMemoryBackend*>(connection.process_group()->getBackend(c10::DeviceType::CPU).get());
}

void SharedMemoryBackend::all_gather_slices(const std::vector<std::span<std::byte>>& arrays, const SlicePlan& plan,
                                            const std::function<void(size_t round)>& compute) {
  collective(c10d::kUnsetTimeout, [&](shm::Channel& channel) {
    if (!peer_memory_) peer_memory_.emplace(channel);
    shm::all_gather_slices(channel, *peer_memory_, arrays, plan, compute, run_rounds);
  });
}

void SharedMemoryBackend::probe_memory() {
  collective(c10d::kUnsetTimeout, [&](shm::Channel& channel) {
    if (!peer_memory_) peer_memory_.emplace(channel);
    bool shared = false;
    try {
      shared = shm::shared_zeros(channel, shm::page_bytes(), {}) != nullptr;
    } catch (const shm::PeerError&) {
      throw;
    } catch (const shm::MismatchError&) {
      throw;
    } catch (const Error&) {
      // A rank has run out of memory or descriptors, and all ranks know it. This was only a probe.
    }
    memory_access_ = {.shared = shared, .direct = peer_memory_->reachable()};
  });
}

std::shared_ptr<shm::Segment> SharedMemoryBackend::shared_zeros(size_t bytes, const std::vector<shm::Range>& own) {
  std::shared_ptr<shm::Segment> segment;
  collective(c10d::kUnsetTimeout, [&](shm::Channel& channel) { segment = shm::shared_zeros(channel, bytes, own); });
  return segment;
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::barrier(const c10d::BarrierOptions& options) {
  collective(options.timeout, [](shm::Channel& channel) { shm::barrier(channel); });
  return done({});
}

void SharedMemoryBackend::abort() { group_->channel().leave(); }

void SharedMemoryBackend::monitoredBarrier(const c10d::BarrierOptions& options, bool) { barrier(options); }

at::Tensor SharedMemoryBackend::allocateTensor(long size, at::TensorOptions options) {
  auto heap = group_->heap();
  auto offset = heap->allocate(size * options.dtype().itemsize());
  return at::from_blob(heap->at(offset), {size}, [heap, offset](void*) { heap->free(offset); }, options);
}

shm::KeyValueStore key_value_store(const c10::intrusive_ptr<c10d::Store>& store) {
  auto keys = c10::make_intrusive<c10d::PrefixStore>("shm", store);
  return {.set = [keys](const std::string& key, const std::string& text) { keys->set(key, text_to_bytes(text)); },
          .has = [keys](const std::string& key) { return keys->check({key}); },
          .get = [keys](const std::string& key) { return get_text(*keys, key); }};
}

c10::intrusive_ptr<SharedMemoryBackend> connect_through_memory(const shm::KeyValueStore& store,
                                                               const Machines& machines, int rank,
                                                               const NeighbourOptions& options) {
  auto num_neighbours = static_cast<int>(machines[place_of(machines, rank).machine].size());
  auto segments = shm::exchange_segments(store, machines, rank,
                                         shm::LocalGroup::exchange_options(num_neighbours, kExchangeTimeout));
  if (!options.names.empty()) {
    for (int& each : segments.ranks) each = options.names[each];
  }
  auto group = std::make_unique<shm::LocalGroup>(std::move(segments), options.timeout, options.core_sharers);
  return c10::make_intrusive<SharedMemoryBackend>(std::move(group), options.timeout);
}

}  // namespace accelerate::comm
