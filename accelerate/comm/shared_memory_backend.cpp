#include "accelerate/comm/shared_memory_backend.h"

#include <algorithm>
#include <cstdlib>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "accelerate/base/error.h"

namespace accelerate::comm {

namespace shm = shared_memory;

namespace {

/// How long ranks that have met at the store may take to hand each other their memory.
constexpr auto kMeetingTimeout = std::chrono::seconds(60);

shm::DataType type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kBool:
      return shm::DataType::Bool;
    case at::kByte:
      return shm::DataType::UInt8;
    case at::kChar:
      return shm::DataType::Int8;
    case at::kShort:
      return shm::DataType::Int16;
    case at::kInt:
      return shm::DataType::Int32;
    case at::kLong:
      return shm::DataType::Int64;
    case at::kHalf:
      return shm::DataType::Float16;
    case at::kBFloat16:
      return shm::DataType::BFloat16;
    case at::kFloat:
      return shm::DataType::Float32;
    case at::kDouble:
      return shm::DataType::Float64;
    default:
      return shm::DataType::Other;
  }
}

shm::Reduction reduction_of(const c10d::ReduceOp& operation) {
  switch (operation) {
    case c10d::ReduceOp::SUM:
      return shm::Reduction::Sum;
    case c10d::ReduceOp::AVG:
      return shm::Reduction::Average;
    case c10d::ReduceOp::PRODUCT:
      return shm::Reduction::Product;
    case c10d::ReduceOp::MIN:
      return shm::Reduction::Min;
    case c10d::ReduceOp::MAX:
      return shm::Reduction::Max;
    case c10d::ReduceOp::BAND:
      return shm::Reduction::BitAnd;
    case c10d::ReduceOp::BOR:
      return shm::Reduction::BitOr;
    case c10d::ReduceOp::BXOR:
      return shm::Reduction::BitXor;
    default:
      fail("this reduction exists between GPUs only; use a sum and scale it");
  }
}

/// A complex number is added like a pair of real ones.
at::Tensor as_real(const at::Tensor& tensor, const c10d::ReduceOp& operation) {
  if (!tensor.is_complex()) return tensor;
  if (!c10d::isComplexViewAsRealAllowed(operation))
    fail("complex numbers have a sum over ranks, and no other reduction");
  return at::view_as_real(tensor);
}

std::byte* bytes_of(const at::Tensor& tensor) { return static_cast<std::byte*>(tensor.mutable_data_ptr()); }

/// The elements of a tensor that is contiguous.
shm::Array array_of(const at::Tensor& tensor) {
  auto type = type_of(tensor);
  return {bytes_of(tensor), tensor.nbytes() / shm::bytes_of(type), type};
}

void check(const at::Tensor& tensor) {
  if (!tensor.device().is_cpu()) fail("shared memory connects tensors on the CPU; this one is on ", tensor.device());
  if (tensor.layout() != at::kStrided)
    fail("sparse tensors do not travel through shared memory; use ACCELERATE_COMM=gloo");
}

at::Tensor& only(std::vector<at::Tensor>& tensors) {
  if (tensors.size() != 1) fail("a collective takes one tensor from each rank; there are ", tensors.size());
  check(tensors[0]);
  return tensors[0];
}

std::vector<at::Tensor>& only(std::vector<std::vector<at::Tensor>>& lists) {
  if (lists.size() != 1) fail("a collective takes one list of tensors from each rank; there are ", lists.size());
  return lists[0];
}

/// A tensor as a contiguous one: itself, or a copy whose content goes back where it came from.
class InOrder {
 public:
  explicit InOrder(const at::Tensor& tensor) : original_(tensor), tensor_(tensor.contiguous()) {}

  const at::Tensor& tensor() const { return tensor_; }
  void put_back() const {
    if (!tensor_.is_same(original_)) original_.copy_(tensor_);
  }

 private:
  at::Tensor original_;
  at::Tensor tensor_;
};

/// The tensors of one rank for each of its peers, as contiguous ones of the size of `like`.
class OnePerRank {
 public:
  OnePerRank(const std::vector<at::Tensor>& tensors, int size, const at::Tensor& like) {
    if (static_cast<int>(tensors.size()) != size) {
      fail("a collective of ", size, " ranks takes a tensor for each of them; there are ", tensors.size());
    }
    for (const auto& tensor : tensors) {
      check(tensor);
      if (tensor.nbytes() != like.nbytes() || tensor.scalar_type() != like.scalar_type()) {
        fail("tensors of one collective differ: ", tensor.scalar_type(), " ", tensor.sizes(), " and ",
             like.scalar_type(), " ", like.sizes());
      }
      tensors_.emplace_back(tensor);
    }
  }

  shm::Arrays pointers() const {
    shm::Arrays pointers;
    for (const auto& tensor : tensors_) pointers.push_back(bytes_of(tensor.tensor()));
    return pointers;
  }
  void put_back() const {
    for (const auto& tensor : tensors_) tensor.put_back();
  }

 private:
  std::vector<InOrder> tensors_;
};

/// Equal parts of a contiguous tensor, one for each rank.
shm::Arrays parts_of(const at::Tensor& whole, const at::Tensor& part, int size) {
  if (whole.nbytes() != size * part.nbytes() || whole.scalar_type() != part.scalar_type()) {
    fail("a tensor of ", whole.scalar_type(), " ", whole.sizes(), " does not consist of ", size, " of ",
         part.scalar_type(), " ", part.sizes());
  }
  shm::Arrays parts;
  for (int rank = 0; rank < size; ++rank) parts.push_back(bytes_of(whole) + rank * part.nbytes());
  return parts;
}

/// The rows of a contiguous tensor that go to or come from each rank: equal parts unless `splits` says otherwise.
std::vector<shm::Array> rows_for_each(const at::Tensor& tensor, const std::vector<int64_t>& splits, int size) {
  c10d::checkSplitSizes(splits, tensor, size);
  size_t rows = tensor.size(0);
  size_t row_bytes = rows == 0 ? 0 : tensor.nbytes() / rows;
  auto part = array_of(tensor);
  auto element_bytes = shm::bytes_of(part.type);
  std::vector<shm::Array> parts;
  for (int rank = 0; rank < size; ++rank) {
    size_t bytes = row_bytes * (splits.empty() ? rows / size : splits[rank]);
    part.count = bytes / element_bytes;
    parts.push_back(part);
    part.data += bytes;
  }
  return parts;
}

c10::intrusive_ptr<c10d::Work> done(std::vector<at::Tensor> results) {
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  future->markCompleted(c10::IValue(std::move(results)));
  return c10d::Work::create_from_future(future);
}

}  // namespace

/// A message that is waited for when its Work is.
class SharedMemoryBackend::Receive : public c10d::Work {
 public:
  Receive(c10::intrusive_ptr<SharedMemoryBackend> backend, const at::Tensor& tensor, int from, int tag)
      : Work(-1, from == shm::Mailbox::kAnyRank ? c10d::OpType::RECVANYSOURCE : c10d::OpType::RECV),
        from(from),
        tag(tag),
        into(tensor),
        backend_(std::move(backend)) {}
  ~Receive() override {
    std::lock_guard lock(backend_->receive_mutex_);
    std::erase(backend_->receives_, this);
  }

  bool isCompleted() override { return backend_->finish_receive(*this, /*wait=*/false); }
  bool isSuccess() const override { return finished; }
  int sourceRank() const override { return from; }
  std::vector<at::Tensor> result() override { return {into.tensor()}; }
  bool wait(std::chrono::milliseconds) override { return backend_->finish_receive(*this, /*wait=*/true); }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    wait(kNoTimeout);
    return done({into.tensor()})->getFuture();
  }

  int from;
  const int tag;
  const InOrder into;
  bool finished = false;

 private:
  c10::intrusive_ptr<SharedMemoryBackend> backend_;
};

SharedMemoryBackend::SharedMemoryBackend(std::unique_ptr<shm::LocalGroup> group, int rank, int size,
                                         std::chrono::milliseconds timeout)
    : Backend(rank, size), group_(std::move(group)), timeout_(timeout) {
  // The Reducer asks for memory of the backend only where this is said; a user who says something else is right.
  setenv("DDP_DISABLE_COMM_MEM", "0", /*overwrite=*/0);
  init();
}

SharedMemoryBackend::~SharedMemoryBackend() = default;

c10::intrusive_ptr<c10d::Backend::Options> SharedMemoryBackend::getBackendOptions() {
  return c10::make_intrusive<Options>(getBackendName(), timeout_);
}

template <class Run>
void SharedMemoryBackend::collective(std::chrono::milliseconds timeout, Run run) {
  std::lock_guard lock(collective_mutex_);
  ++num_operations_;
  group_->channel().set_timeout(timeout == c10d::kUnsetTimeout ? timeout_ : timeout);
  run(group_->channel());
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  InOrder tensor(only(tensors));
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::broadcast(channel, array_of(tensor.tensor()), static_cast<int>(options.rootRank));
  });
  tensor.put_back();
  return done(tensors);
}

void SharedMemoryBackend::reduce_everywhere(at::Tensor& tensor, const c10d::AllreduceOptions& options) {
  check(tensor);
  InOrder real(as_real(tensor, options.reduceOp));
  auto array = array_of(real.tensor());
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::all_reduce(channel, array, reduction_of(options.reduceOp),
                    group_->heap()->offset_of(array.data, array.bytes()));
  });
  real.put_back();
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

SharedMemoryBackend::WorkPtr SharedMemoryBackend::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  InOrder real(as_real(only(tensors), options.reduceOp));
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::reduce(channel, array_of(real.tensor()), reduction_of(options.reduceOp), static_cast<int>(options.rootRank));
  });
  real.put_back();
  return done(tensors);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::allgather(TensorLists& outputs, Tensors& inputs,
                                                            const c10d::AllgatherOptions& options) {
  InOrder input(only(inputs));
  OnePerRank parts(only(outputs), size_, input.tensor());
  collective(options.timeout,
             [&](shm::Channel& channel) { shm::all_gather(channel, array_of(input.tensor()), parts.pointers()); });
  parts.put_back();
  return done(outputs[0]);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                                  const c10d::AllgatherOptions& options) {
  check(output);
  check(input);
  InOrder given(input);
  InOrder taken(output);
  auto parts = parts_of(taken.tensor(), given.tensor(), size_);
  collective(options.timeout,
             [&](shm::Channel& channel) { shm::all_gather(channel, array_of(given.tensor()), parts); });
  taken.put_back();
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
  InOrder input(only(inputs));
  auto root = static_cast<int>(options.rootRank);
  std::optional<OnePerRank> parts;
  if (rank_ == root) parts.emplace(only(outputs), size_, input.tensor());
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::gather(channel, array_of(input.tensor()), parts ? parts->pointers() : shm::Arrays{}, root);
  });
  if (!parts) return done({});
  parts->put_back();
  return done(outputs[0]);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::scatter(Tensors& outputs, TensorLists& inputs,
                                                          const c10d::ScatterOptions& options) {
  InOrder output(only(outputs));
  auto root = static_cast<int>(options.rootRank);
  std::optional<OnePerRank> parts;
  if (rank_ == root) parts.emplace(only(inputs), size_, output.tensor());
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::scatter(channel, parts ? parts->pointers() : shm::Arrays{}, array_of(output.tensor()), root);
  });
  output.put_back();
  return done(outputs);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::reduce_scatter(Tensors& outputs, TensorLists& inputs,
                                                                 const c10d::ReduceScatterOptions& options) {
  InOrder output(as_real(only(outputs), options.reduceOp));
  Tensors real;
  for (auto& input : only(inputs)) real.push_back(as_real(input, options.reduceOp));
  OnePerRank parts(real, size_, output.tensor());
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::reduce_scatter(channel, parts.pointers(), array_of(output.tensor()), reduction_of(options.reduceOp));
  });
  output.put_back();
  return done(outputs);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                                       const c10d::ReduceScatterOptions& options) {
  check(output);
  check(input);
  InOrder taken(as_real(output, options.reduceOp));
  InOrder given(as_real(input, options.reduceOp));
  auto parts = parts_of(given.tensor(), taken.tensor(), size_);
  collective(options.timeout, [&](shm::Channel& channel) {
    shm::reduce_scatter(channel, parts, array_of(taken.tensor()), reduction_of(options.reduceOp));
  });
  taken.put_back();
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
  check(output);
  check(input);
  InOrder given(input);
  InOrder taken(output);
  auto inputs = rows_for_each(given.tensor(), input_splits, size_);
  auto outputs = rows_for_each(taken.tensor(), output_splits, size_);
  collective(options.timeout, [&](shm::Channel& channel) { shm::all_to_all(channel, inputs, outputs); });
  taken.put_back();
  return done({output});
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::alltoall(Tensors& outputs, Tensors& inputs,
                                                           const c10d::AllToAllOptions& options) {
  std::vector<InOrder> given;
  std::vector<InOrder> taken;
  std::vector<shm::Array> from;
  std::vector<shm::Array> to;
  if (static_cast<int>(inputs.size()) != size_ || static_cast<int>(outputs.size()) != size_) {
    fail("alltoall of ", size_, " ranks takes as many tensors; there are ", inputs.size(), " and ", outputs.size());
  }
  for (int rank = 0; rank < size_; ++rank) {
    check(inputs[rank]);
    check(outputs[rank]);
    from.push_back(array_of(given.emplace_back(inputs[rank]).tensor()));
    to.push_back(array_of(taken.emplace_back(outputs[rank]).tensor()));
  }
  collective(options.timeout, [&](shm::Channel& channel) { shm::all_to_all(channel, from, to); });
  for (const auto& tensor : taken) tensor.put_back();
  return done(outputs);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::send(Tensors& tensors, int to, int tag) {
  auto message = only(tensors).contiguous();
  if (to < 0 || to >= size_ || to == rank_) fail("send: rank ", rank_, " of ", size_, " cannot send to rank ", to);
  std::lock_guard lock(send_mutex_);
  group_->mailbox().send(bytes_of(message), message.nbytes(), to, tag, timeout_);
  return done({});
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::recv(Tensors& tensors, int from, int tag) {
  if (from < 0 || from >= size_ || from == rank_) {
    fail("recv: rank ", rank_, " of ", size_, " cannot receive from rank ", from);
  }
  return start_receive(tensors, from, tag);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::recvAnysource(Tensors& tensors, int tag) {
  return start_receive(tensors, shm::Mailbox::kAnyRank, tag);
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::start_receive(Tensors& tensors, int from, int tag) {
  auto self = c10::intrusive_ptr<SharedMemoryBackend>::unsafe_reclaim_from_nonowning(this);
  auto receive = c10::make_intrusive<Receive>(std::move(self), only(tensors), from, tag);
  std::lock_guard lock(receive_mutex_);
  receives_.push_back(receive.get());
  return receive;
}

/// Finishes the receives that were asked for before `wanted` and take the same messages, then that one.
bool SharedMemoryBackend::finish_receive(Receive& wanted, bool wait) {
  std::lock_guard lock(receive_mutex_);
  while (!wanted.finished) {
    auto next = std::find_if(receives_.begin(), receives_.end(), [&](const Receive* receive) {
      return receive->from == wanted.from && receive->tag == wanted.tag;
    });
    auto& receive = **next;
    const auto& tensor = receive.into.tensor();
    auto limit = wait ? timeout_ : std::chrono::milliseconds(0);
    auto from = group_->mailbox().receive(bytes_of(tensor), tensor.nbytes(), receive.from, receive.tag, limit);
    if (!from) return false;
    receive.from = *from;
    receive.into.put_back();
    receive.finished = true;
    receives_.erase(next);
  }
  return true;
}

SharedMemoryBackend::WorkPtr SharedMemoryBackend::barrier(const c10d::BarrierOptions& options) {
  collective(options.timeout, [](shm::Channel& channel) { shm::barrier(channel); });
  return done({});
}

void SharedMemoryBackend::monitoredBarrier(const c10d::BarrierOptions& options, bool) { barrier(options); }

at::Tensor SharedMemoryBackend::allocateTensor(long size, at::TensorOptions options) {
  auto heap = group_->heap();
  auto offset = heap->allocate(size * options.dtype().itemsize());
  return at::from_blob(heap->at(offset), {size}, [heap, offset](void*) { heap->free(offset); }, options);
}

c10::intrusive_ptr<SharedMemoryBackend> connect_through_memory(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                                               int size, bool willing,
                                                               std::chrono::milliseconds timeout) {
  auto notes = c10::make_intrusive<c10d::PrefixStore>("shm", store);
  shm::NoticeBoard board{
      .post = [&](const std::string& key,
                  const std::string& text) { notes->set(key, std::vector<uint8_t>(text.begin(), text.end())); },
      .has = [&](const std::string& key) { return notes->check({key}); },
      .read =
          [&](const std::string& key) {
            auto bytes = notes->get(key);
            return std::string(bytes.begin(), bytes.end());
          }};
  auto options = shm::LocalGroup::meeting_options(size, kMeetingTimeout);
  options.willing = willing;
  auto meeting = shm::meet(board, rank, size, options);
  if (!meeting) return nullptr;
  auto group = std::make_unique<shm::LocalGroup>(std::move(*meeting), rank, timeout);
  return c10::make_intrusive<SharedMemoryBackend>(std::move(group), rank, size, timeout);
}

}  // namespace accelerate::comm
