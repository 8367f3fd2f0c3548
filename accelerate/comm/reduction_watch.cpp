#include "accelerate/comm/reduction_watch.h"

#include <utility>

#include "accelerate/comm/backends/shared_memory_backend.h"
#include "accelerate/comm/connection.h"

namespace accelerate::comm {

namespace {

/// The backend for CPU tensors; null if it is not the shared memory backend.
std::shared_ptr<SharedMemoryBackend> watched_backend(const Group& group) {
  if (group.size() == 1) return nullptr;
  auto backend = group.connection()->process_group()->getBackend(c10::DeviceType::CPU);
  auto* memory = dynamic_cast<SharedMemoryBackend*>(backend.get());
  return {memory, [backend](SharedMemoryBackend*) {}};  // the deleter holds libtorch's reference
}

}  // namespace

ReductionWatch::ReductionWatch(const Group& group, const at::Tensor& tensor, Options options)
    : backend_(watched_backend(group)) {
  if (backend_) number_ = backend_->watch(tensor, std::move(options));
}

ReductionWatch::~ReductionWatch() {
  if (backend_) backend_->unwatch(number_);
}

bool ReductionWatch::possible(const Group& group) { return watched_backend(group) != nullptr; }

bool ReductionWatch::lies_in_shared_memory(const Group& group, const at::Tensor& tensor) {
  const auto backend = watched_backend(group);
  return backend && backend->holds(tensor);
}

}  // namespace accelerate::comm
