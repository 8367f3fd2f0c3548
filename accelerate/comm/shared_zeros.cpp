#include "accelerate/comm/shared_zeros.h"

#include "accelerate/base/error.h"
#include "accelerate/comm/backends/shared_memory_backend.h"
#include "accelerate/comm/connection.h"

namespace accelerate::comm {

MemoryAccess memory_access(const Group& group) {
  if (group.size() == 1) return {};
  auto* memory = SharedMemoryBackend::of(*group.connection());
  if (!memory) return {};
  if (!memory->memory_access()) {
    group.connection()->run_recorded("the attempt to reach each other's memory", 0, [&] { memory->probe_memory(); });
  }
  return *memory->memory_access();
}

std::shared_ptr<shared_memory::Segment> shared_zeros(const Group& group, size_t bytes,
                                                     const std::vector<shared_memory::Range>& own,
                                                     const std::string& what) {
  auto& connection = *group.connection();
  auto* memory = SharedMemoryBackend::of(connection);
  std::shared_ptr<shared_memory::Segment> segment;
  connection.run_recorded(what, static_cast<int64_t>(bytes), [&] {
    if (memory) segment = memory->shared_zeros(bytes, own);
  });
  if (!segment) fail(what, ": the ranks cannot open each other's memory");
  return segment;
}

}  // namespace accelerate::comm
