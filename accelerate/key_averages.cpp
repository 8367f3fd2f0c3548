#include "accelerate/key_averages.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace accelerate {

namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

/// The nesting of calls.
struct CallTree {
  std::vector<size_t> parent;
  std::vector<std::vector<size_t>> children;
};

/// A call is nested in another of its thread if its interval is. Asynchronous calls are left out.
CallTree tree_of(const std::vector<FunctionEvent>& events) {
  CallTree tree{std::vector<size_t>(events.size(), kNone), std::vector<std::vector<size_t>>(events.size())};
  std::vector<size_t> order;
  for (size_t i = 0; i < events.size(); ++i) {
    if (!events[i].is_async) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(events[a].thread, events[a].start_us, -events[a].end_us) <
           std::tuple(events[b].thread, events[b].start_us, -events[b].end_us);
  });
  std::vector<size_t> open;
  for (size_t i : order) {
    const auto& event = events[i];
    while (!open.empty()) {
      const auto& outer = events[open.back()];
      if (outer.thread == event.thread && event.start_us < outer.end_us && event.end_us <= outer.end_us) {
        tree.parent[i] = open.back();
        tree.children[open.back()].push_back(i);
        break;
      }
      open.pop_back();
    }
    open.push_back(i);
  }
  return tree;
}

/// Merges an operator that only calls another of the same name into one call. Returns whether each event stays.
std::vector<bool> merge_wrappers(const std::vector<FunctionEvent>& events, CallTree& tree) {
  std::vector<bool> stays(events.size(), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < events.size(); ++i) {
      const size_t parent = tree.parent[i];
      if (!stays[i] || parent == kNone || events[parent].name != events[i].name) continue;
      if (tree.children[parent].size() != 1) continue;
      tree.children[parent] = tree.children[i];
      for (size_t child : tree.children[i]) tree.parent[child] = parent;
      stays[i] = false;
      changed = true;
    }
  }
  return stays;
}

double duration(const FunctionEvent& event) { return event.end_us - event.start_us; }

std::string text_of_shapes(const std::vector<std::vector<int64_t>>& shapes) {
  std::string text = "[";
  for (const auto& shape : shapes) {
    if (text.size() > 1) text += ", ";
    text += "[";
    for (size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    text += "]";
  }
  return text + "]";
}

}  // namespace

KeyAverages::KeyAverages(const std::vector<FunctionEvent>& events, const KeyAveragesOptions& options,
                         bool profile_memory, bool with_flops)
    : profile_memory_(profile_memory), with_flops_(with_flops) {
  auto tree = tree_of(events);
  const auto stays = merge_wrappers(events, tree);
  std::map<std::tuple<std::string, bool, std::string>, size_t> places;
  for (size_t i = 0; i < events.size(); ++i) {
    if (!stays[i]) continue;
    const auto& event = events[i];
    const auto shapes = options.group_by_input_shape ? text_of_shapes(event.input_shapes) : std::string();
    const auto [place, is_new] = places.try_emplace({event.name, event.is_user_annotation, shapes}, averages_.size());
    if (is_new) {
      averages_.push_back({.key = event.name,
                           .input_shapes = shapes,
                           .is_async = event.is_async,
                           .is_user_annotation = event.is_user_annotation,
                           .is_top_level = tree.parent[i] == kNone});
    }
    auto& average = averages_[place->second];
    ++average.count;
    average.cpu_time_total += duration(event);
    average.cpu_memory_usage += event.cpu_memory_usage;
    average.flops += event.flops;
    if (event.is_async) continue;
    double time_inside = 0;
    int64_t memory_inside = 0;
    for (size_t child : tree.children[i]) {
      time_inside += duration(events[child]);
      memory_inside += events[child].cpu_memory_usage;
    }
    average.self_cpu_time_total += duration(event) - time_inside;
    average.self_cpu_memory_usage += event.cpu_memory_usage - memory_inside;
  }
}

double KeyAverages::self_cpu_time_total() const {
  double sum = 0;
  for (const auto& average : averages_) sum += average.self_cpu_time_total;
  return sum;
}

}  // namespace accelerate
