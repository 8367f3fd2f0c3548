// The replacement for nccl_backend.cpp. CMake builds this file if libtorch has no NCCL.

#include "accelerate/base/error.h"
#include "accelerate/comm/connection.h"

namespace accelerate::comm {

void add_nccl_backend(c10d::ProcessGroup&, const c10::intrusive_ptr<c10d::Store>&, std::chrono::milliseconds) {
  fail(
      "this libtorch was built without NCCL; use a CUDA build of libtorch, or run on the CPU with "
      "ACCELERATE_USE_CPU=1");
}

}  // namespace accelerate::comm
