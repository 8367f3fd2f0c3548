#include "accelerate/recorded_events.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <ATen/record_function.h>
#include <c10/util/Type.h>
#include <torch/csrc/autograd/profiler_kineto.h>

namespace accelerate {

namespace {

using torch::autograd::profiler::KinetoEvent;
using torch::autograd::profiler::ProfilerResult;

constexpr std::string_view kMemoryEvent = "[memory]", kOutOfMemoryEvent = "[OutOfMemory]";

/// Events that torch.profiler leaves out of its tables.
bool is_left_out(const KinetoEvent& event, const std::string& name) {
  static const std::set<std::string> names = {"profiler::_record_function_enter",
                                              "profiler::_record_function_enter_new",
                                              "profiler::_record_function_exit",
                                              "aten::is_leaf",
                                              "aten::output_nr",
                                              "aten::_version"};
  return name == kMemoryEvent || name == kOutOfMemoryEvent || names.contains(name) || event.isHiddenEvent() ||
         event.deviceType() != at::kCPU;
}

struct Allocation {
  const KinetoEvent* event;
  bool inside_of_a_call = false;

  int64_t bytes() const { return event->deviceType() == at::kCPU ? event->nBytes() : 0; }
};

std::vector<Allocation> allocations_of(const ProfilerResult& result) {
  std::vector<Allocation> allocations;
  for (const auto& event : result.events()) {
    if (event.name() == kMemoryEvent) allocations.push_back({&event});
  }
  std::stable_sort(allocations.begin(), allocations.end(),
                   [](const auto& a, const auto& b) { return a.event->startNs() < b.event->startNs(); });
  return allocations;
}

/// The bytes allocated during `event` in any thread, as torch.profiler counts them.
int64_t memory_usage(std::vector<Allocation>& allocations, const KinetoEvent& event) {
  auto next = std::lower_bound(allocations.begin(), allocations.end(), event.startNs(),
                               [](const Allocation& a, uint64_t time) { return a.event->startNs() < time; });
  int64_t bytes = 0;
  for (; next != allocations.end() && next->event->startNs() <= event.endNs(); ++next) {
    bytes += next->bytes();
    next->inside_of_a_call = true;
  }
  return bytes;
}

/// The steps of a schedule have numbers, but share one row.
std::string name_in_table(const KinetoEvent& event) {
  const auto name = event.name();
  if (name.starts_with("ProfilerStep#")) return "ProfilerStep*";
  return name.size() > 1 ? c10::demangle(name.c_str()) : name;
}

}  // namespace

std::vector<FunctionEvent> function_events(const ProfilerResult& result) {
  auto allocations = allocations_of(result);
  const auto microseconds = [&](uint64_t time_ns) {
    return static_cast<double>(static_cast<int64_t>(time_ns - result.trace_start_ns())) / 1000;
  };
  std::vector<FunctionEvent> events;
  for (const auto& event : result.events()) {
    if (is_left_out(event, event.name())) continue;
    auto& added = events.emplace_back(
        FunctionEvent{.name = name_in_table(event),
                      .thread = event.startThreadId(),
                      .start_us = microseconds(event.startNs()),
                      .end_us = microseconds(event.endNs()),
                      .is_async = event.isAsync() || event.startThreadId() != event.endThreadId(),
                      .is_user_annotation = event.scope() == static_cast<uint8_t>(at::RecordScope::USER_SCOPE),
                      .cpu_memory_usage = memory_usage(allocations, event),
                      .flops = static_cast<int64_t>(event.flops())});
    if (event.hasShapes()) added.input_shapes = event.shapes().vec();
  }
  for (const auto& allocation : allocations) {
    if (allocation.inside_of_a_call) continue;
    const auto time = microseconds(allocation.event->startNs());
    events.push_back({.name = std::string(kMemoryEvent),
                      .thread = allocation.event->startThreadId(),
                      .start_us = time,
                      .end_us = time,
                      .cpu_memory_usage = allocation.bytes()});
  }
  std::stable_sort(events.begin(), events.end(), [](const FunctionEvent& a, const FunctionEvent& b) {
    return a.start_us != b.start_us ? a.start_us < b.start_us : a.end_us > b.end_us;
  });
  return events;
}

}  // namespace accelerate
