// Point-to-point messages of the shared memory backend.

#include <algorithm>
#include <chrono>
#include <optional>

#include "accelerate/base/error.h"
#include "accelerate/comm/backends/shared_memory_backend.h"
#include "accelerate/comm/backends/tensor_arrays.h"

namespace accelerate::comm {

namespace shm = shared_memory;

/// A pending receive. The message is received in wait().
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

  bool isCompleted() override { return backend_->finish_receive(*this, std::nullopt); }
  bool isSuccess() const override { return finished; }
  int sourceRank() const override { return from; }
  std::vector<at::Tensor> result() override { return {into.tensor()}; }
  bool wait(std::chrono::milliseconds timeout) override {
    return backend_->finish_receive(*this, timeout == kNoTimeout ? backend_->timeout_ : timeout);
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    wait(kNoTimeout);
    return done({into.tensor()})->getFuture();
  }

  int from;
  const int tag;
  const ContiguousTensor into;
  bool finished = false;

 private:
  c10::intrusive_ptr<SharedMemoryBackend> backend_;
};

SharedMemoryBackend::WorkPtr SharedMemoryBackend::send(Tensors& tensors, int to, int tag) {
  ContiguousTensor message(only(tensors));
  if (to < 0 || to >= size_ || to == rank_) fail("send: rank ", rank_, " of ", size_, " cannot send to rank ", to);
  std::lock_guard lock(send_mutex_);
  group_->mailbox().send(message.data(), message.bytes(), to, tag, timeout_);
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

/// Completes earlier receives with the same source and tag, then `wanted`, all within `limit`. Without a limit it only
/// takes messages that have arrived already. Returns whether `wanted` is complete.
bool SharedMemoryBackend::finish_receive(Receive& wanted, std::optional<std::chrono::milliseconds> limit) {
  using std::chrono::milliseconds;
  const auto deadline = shm::Clock::now() + limit.value_or(milliseconds(0));
  auto left = [&] {
    if (!limit) return milliseconds(0);
    return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(deadline - shm::Clock::now()));
  };
  std::lock_guard lock(receive_mutex_);
  while (!wanted.finished) {
    auto next = std::find_if(receives_.begin(), receives_.end(), [&](const Receive* receive) {
      return receive->from == wanted.from && receive->tag == wanted.tag;
    });
    auto& receive = **next;
    auto from = group_->mailbox().receive(receive.into.data(), receive.into.bytes(), receive.from, receive.tag, left());
    if (!from) return false;
    receive.from = *from;
    receive.into.copy_back();
    receive.finished = true;
    receives_.erase(next);
  }
  return true;
}

}  // namespace accelerate::comm
