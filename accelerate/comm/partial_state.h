#pragma once

// The state of this process in its job: its rank, its device, and the group of all ranks.

#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include <c10/core/Device.h>

#include "accelerate/comm/group.h"
#include "accelerate/comm/split.h"

namespace accelerate::comm {

enum class DistributedType { No, MultiCpu, MultiGpu };

/// The name in configuration files: NO, MULTI_CPU, MULTI_GPU.
const char* to_string(DistributedType type);

struct PartialStateOptions {
  bool cpu = false;  // stay on the CPU even if there is a GPU; the same as ACCELERATE_USE_CPU=1
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;  // of every collective; 30 minutes, 10 with NCCL
  std::string backend = {};      // auto, shm, gloo or nccl; else ACCELERATE_COMM, else auto
  std::string init_method = {};  // of the rendezvous: env:// (the default), tcp://host:port or file:///path
};

/// A scope that processes with `first` enter before the others. The others wait in the constructor until these have
/// left it, normally or by an exception. Collective.
class [[nodiscard]] ProcessFirst {
 public:
  ProcessFirst(Group group, bool first);
  ProcessFirst(const ProcessFirst&) = delete;
  ProcessFirst& operator=(const ProcessFirst&) = delete;
  ~ProcessFirst();

 private:
  Group group_;
  bool first_;
};

/// A process joins its job once. The first PartialState reads the launcher's variables, finds the other ranks in a
/// rendezvous and connects to them (collective). Later ones are cheap handles to the same state, which lives until
/// reset() or the end of the process. They throw Error if they ask for options that differ from those of the job.
class PartialState {
 public:
  explicit PartialState(const PartialStateOptions& options = {});

  static bool initialized();

  /// Leaves the job. Existing handles keep their connection; the next PartialState starts a new rendezvous.
  static void reset();

  int num_processes() const;
  int process_index() const;
  int local_process_index() const;
  bool is_main_process() const { return process_index() == 0; }
  bool is_local_main_process() const { return local_process_index() == 0; }
  bool is_last_process() const { return process_index() == num_processes() - 1; }
  bool use_distributed() const { return num_processes() > 1; }
  DistributedType distributed_type() const;
  const std::string& backend() const;  // "shm", "hierarchical", "gloo", "nccl", or empty in one process
  at::Device device() const;
  bool debug() const { return group().debug(); }
  const Group& group() const;

  void wait_for_everyone() const { group().barrier("wait_for_everyone"); }
  ProcessFirst main_process_first() const { return ProcessFirst(group(), is_main_process()); }
  ProcessFirst local_main_process_first() const { return ProcessFirst(group(), is_local_main_process()); }

  /// Wraps a function so that it runs on the named process only; on others the call does nothing. A result is returned
  /// as an optional, empty on the others.
  template <class Function>
  auto on_main_process(Function function) const {
    return only_if(is_main_process(), std::move(function));
  }
  template <class Function>
  auto on_local_main_process(Function function) const {
    return only_if(is_local_main_process(), std::move(function));
  }
  template <class Function>
  auto on_last_process(Function function) const {
    return only_if(is_last_process(), std::move(function));
  }
  template <class Function>
  auto on_process(Function function, int process_index) const {
    return only_if(this->process_index() == process_index, std::move(function));
  }
  template <class Function>
  auto on_local_process(Function function, int local_process_index) const {
    return only_if(this->local_process_index() == local_process_index, std::move(function));
  }

  /// Prints its arguments as one line, separated by spaces, on one process of each machine.
  template <class... Parts>
  void print(const Parts&... parts) const {
    if (!is_local_main_process()) return;
    std::ostringstream line;
    const char* separator = "";
    ((line << std::exchange(separator, " ") << parts), ...);
    std::cout << line.str() + "\n" << std::flush;
  }

  /// This rank's share of a vector, tensor (rows), Batch or map of them. With `apply_padding` the last item is repeated
  /// until all shares have the same length.
  template <class T>
  T split_between_processes(const T& items, bool apply_padding = false) const {
    return split_between(items, process_index(), num_processes(), apply_padding);
  }

  /// The lines that `accelerate test` and bug reports show.
  std::string describe() const;

 private:
  struct Shared;
  static std::shared_ptr<const Shared>& current();
  static std::shared_ptr<const Shared> join(const PartialStateOptions& options);
  static void check_joined(const Shared& joined, const PartialStateOptions& options);

  template <class Function>
  static auto only_if(bool here, Function function) {
    return [here, function = std::move(function)](auto&&... args) mutable {
      using Result = std::invoke_result_t<Function&, decltype(args)...>;
      if constexpr (std::is_void_v<Result>) {
        if (here) function(std::forward<decltype(args)>(args)...);
      } else {
        return here ? std::optional<Result>(function(std::forward<decltype(args)>(args)...)) : std::nullopt;
      }
    };
  }

  std::shared_ptr<const Shared> shared_;
};

}  // namespace accelerate::comm

namespace accelerate {
using comm::DistributedType;
using comm::PartialState;
}  // namespace accelerate
