#pragma once

// What a training spends its time on, as a trace for chrome://tracing or https://ui.perfetto.dev, and as a table.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/comm/group.h"
#include "accelerate/key_averages.h"

namespace torch::autograd::profiler {
struct ProfilerResult;
}
namespace at {
struct RecordFunction;
}

namespace accelerate {

class Profile;

/// Which steps are recorded: after the first `skip_first`, cycles of `wait` steps without the profiler, `warmup` steps
/// with it whose events are dropped, and `active` steps that make a trace.
struct ProfileSchedule {
  int64_t wait = 0;
  int64_t warmup = 0;
  int64_t active = 1;
  int64_t repeat = 0;  // cycles; 0: as long as there are steps
  int64_t skip_first = 0;
};

enum class ProfileAction { None, Warmup, Record, RecordAndSave };

/// What the profiler does in a step, counted from 0. The last of the active steps saves.
ProfileAction profile_action(const ProfileSchedule& schedule, int64_t step);

struct ProfileKwargs {
  std::vector<std::string> activities = {};  // "cpu", "cuda"; none: whatever this libtorch can record
  std::optional<ProfileSchedule> schedule_option = std::nullopt;  // none: everything from the begin to the end
  std::function<void(Profile&)> on_trace_ready = nullptr;         // called after every cycle
  bool record_shapes = false;
  bool profile_memory = false;
  bool with_flops = false;
  std::filesystem::path output_trace_dir = {};  // each rank writes profile_<rank>.json there when the scope ends
};

/// Records what runs in this thread, and in autograd's on its behalf, while it lives. One at a time in a process.
///
///   auto profile = accelerator.profile({.output_trace_dir = "traces"});
class [[nodiscard]] Profile {
 public:
  /// Throws Error for a schedule that cannot be, an unknown activity, or a directory that cannot be made.
  Profile(const ProfileKwargs& kwargs, comm::Group group);
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// Ends the recording, writes the trace and waits for the other ranks to have written theirs (collective where there
  /// is an output_trace_dir). Throws Error when the trace cannot be written; warns when no step was recorded. When an
  /// exception passes through, only the recording is ended.
  ~Profile() noexcept(false);

  /// Tells that a step of the training ends here.
  void step();
  int64_t step_num() const { return step_num_; }

  /// Ends the recording before the scope does, so that its results can be read. There are no further steps.
  void stop();

  /// The operators of the latest finished recording, with the names, counts and sums of torch.profiler. It is finished
  /// after stop(), and in on_trace_ready. Times are those of the CPU; what a GPU did is in the trace. Throws Error when
  /// there is none yet.
  KeyAverages key_averages(const KeyAveragesOptions& options = {}) const;

  /// Writes the latest finished recording as JSON; a second file of the same recording is a copy of the first. Throws
  /// Error when there is none yet, or it cannot be written.
  void export_chrome_trace(const std::filesystem::path& path);

 private:
  ProfileAction action() const;
  void enter();
  void leave(bool last);
  void prepare();
  void start_recording();
  void stop_recording();

  ProfileKwargs kwargs_;
  comm::Group group_;
  int uncaught_exceptions_;  // when the scope began
  int64_t step_num_ = 0;
  bool prepared_ = false;
  bool recording_ = false;
  bool stopped_ = false;
  std::unique_ptr<at::RecordFunction> step_marker_;
  std::unique_ptr<torch::autograd::profiler::ProfilerResult> result_;
  std::filesystem::path exported_;  // where that was written first
};

}  // namespace accelerate
