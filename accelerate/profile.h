#pragma once

// Profiling of a training run: a trace for chrome://tracing or https://ui.perfetto.dev, and a table.

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

/// Which steps are recorded. After `skip_first` steps, each cycle has `wait` steps without the profiler, `warmup` steps
/// whose events are dropped, and `active` steps that are recorded as a trace.
struct ProfileSchedule {
  int64_t wait = 0;
  int64_t warmup = 0;
  int64_t active = 1;
  int64_t repeat = 0;  // number of cycles; 0: unlimited
  int64_t skip_first = 0;
};

enum class ProfileAction { None, Warmup, Record, RecordAndSave };

/// The profiler's action in a step, counted from 0. The last active step of a cycle saves.
ProfileAction profile_action(const ProfileSchedule& schedule, int64_t step);

struct ProfileKwargs {
  std::vector<std::string> activities = {};  // "cpu", "cuda"; empty: all that this libtorch can record
  std::optional<ProfileSchedule> schedule_option = std::nullopt;  // none: record everything
  std::function<void(Profile&)> on_trace_ready = nullptr;         // called after every cycle
  bool record_shapes = false;
  bool profile_memory = false;
  bool with_flops = false;
  std::filesystem::path output_trace_dir = {};  // each rank writes profile_<rank>.json there in finish()
};

/// Records this thread, and autograd's threads on its behalf, while it lives. One per process at a time.
///
///   auto profile = accelerator.profile({.output_trace_dir = "traces"});
///   ...
///   profile.finish();
class [[nodiscard]] Profile {
 public:
  /// Throws Error for an invalid schedule, an unknown activity, or a directory that cannot be created.
  Profile(const ProfileKwargs& kwargs, comm::Group group);
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// Without finish(), ends the recording and writes the trace, but does not wait for other ranks, and a failure is
  /// only a warning. During stack unwinding it only ends the recording.
  ~Profile();

  /// Marks the end of a training step.
  void step();
  int64_t step_num() const { return step_num_; }

  /// Ends the recording, so that its results can be read. No steps may follow. Not collective.
  void stop();

  /// Ends the recording, writes the trace and waits until the other ranks have written theirs; collective if there is
  /// an output_trace_dir. Throws Error if the trace cannot be written, after the other ranks have gone on; warns if no
  /// step was recorded. A second call does nothing.
  void finish();

  /// The operators of the latest finished recording, with the names, counts and sums of torch.profiler. A recording is
  /// finished after stop() and in on_trace_ready. Contains CPU times only; GPU activity is in the trace. Throws Error
  /// if no recording is finished.
  KeyAverages key_averages(const KeyAveragesOptions& options = {}) const;

  /// Writes the latest finished recording as JSON. A second file of the same recording is a copy of the first. Throws
  /// Error if no recording is finished, or if the file cannot be written.
  void export_chrome_trace(const std::filesystem::path& path);

 private:
  ProfileAction action() const;
  void enter();
  void leave(bool last);
  void prepare();
  void start_recording();
  void stop_recording();
  void write_trace();

  ProfileKwargs kwargs_;
  comm::Group group_;
  int uncaught_exceptions_;  // when the scope began
  int64_t step_num_ = 0;
  bool prepared_ = false;
  bool recording_ = false;
  bool stopped_ = false;
  bool finished_ = false;
  std::unique_ptr<at::RecordFunction> step_marker_;
  std::unique_ptr<torch::autograd::profiler::ProfilerResult> result_;
  std::filesystem::path exported_;  // first file of the latest recording
};

}  // namespace accelerate
