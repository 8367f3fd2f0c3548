#include "accelerate/profile.h"

#include <algorithm>
#include <exception>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <ATen/Context.h>
#include <ATen/record_function.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/base/log.h"
#include "accelerate/recorded_events.h"

namespace accelerate {

namespace {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

std::set<ActivityType> activities_of(const std::vector<std::string>& names) {
  std::set<ActivityType> activities;
  for (const auto& name : names) {
    if (name == "cpu") {
      activities.insert(ActivityType::CPU);
    } else if (name == "cuda") {
      activities.insert(ActivityType::CUDA);
    } else {
      fail("profile: the activity '", name, "' is unknown; it can be cpu or cuda");
    }
  }
  if (!names.empty()) return activities;
  activities.insert(ActivityType::CPU);
  if (at::hasCUDA()) activities.insert(ActivityType::CUDA);
  return activities;
}

torch::profiler::impl::ProfilerConfig config_of(const ProfileKwargs& kwargs) {
  return torch::profiler::impl::ProfilerConfig(torch::profiler::impl::ProfilerState::KINETO, kwargs.record_shapes,
                                               kwargs.profile_memory, /*with_stack=*/false, kwargs.with_flops);
}

void check(const ProfileSchedule& schedule) {
  if (schedule.active < 1 || schedule.wait < 0 || schedule.warmup < 0 || schedule.repeat < 0 ||
      schedule.skip_first < 0) {
    fail("profile: the schedule has wait ", schedule.wait, ", warmup ", schedule.warmup, ", active ", schedule.active,
         ", repeat ", schedule.repeat, ", skip_first ", schedule.skip_first,
         "; active must be at least 1, the others at least 0");
  }
}

/// libtorch's profiler does not report write errors. A complete trace ends with its own name.
void check_is_whole(const std::filesystem::path& trace) {
  constexpr uint64_t kTail = 8192;  // longer than any path
  const auto file = File::open(trace);
  const auto size = std::min(file.bytes(), kTail);
  std::string tail(size, '\0');
  file.read_at(file.bytes() - size, tail.data(), size);
  const auto name = tail.rfind("\"traceName\"");
  if (name != std::string::npos && tail.find('}', name) != std::string::npos) return;
  fail(trace.string(), ": the trace ends after ", file.bytes(),
       " bytes, before it is complete; the disk may be full, or the limit on file sizes (ulimit -f) too low");
}

/// libtorch can write a recording only once, so further files are copies of the first.
void copy_trace(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  if (std::filesystem::equivalent(from, to, error)) return;
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, error);
  if (error) fail(to.string(), ": the trace cannot be copied from ", from.string(), ": ", error.message());
}

}  // namespace

ProfileAction profile_action(const ProfileSchedule& schedule, int64_t step) {
  if (step < schedule.skip_first) return ProfileAction::None;
  step -= schedule.skip_first;
  auto cycle = schedule.wait + schedule.warmup + schedule.active;
  if (schedule.repeat > 0 && step / cycle >= schedule.repeat) return ProfileAction::None;
  auto place = step % cycle;
  if (place < schedule.wait) return ProfileAction::None;
  if (place < schedule.wait + schedule.warmup) return ProfileAction::Warmup;
  return place < cycle - 1 ? ProfileAction::Record : ProfileAction::RecordAndSave;
}

Profile::Profile(const ProfileKwargs& kwargs, comm::Group group)
    : kwargs_(kwargs), group_(std::move(group)), uncaught_exceptions_(std::uncaught_exceptions()) {
  if (kwargs.schedule_option) check(*kwargs.schedule_option);
  activities_of(kwargs.activities);
  if (!kwargs.output_trace_dir.empty()) make_directories(kwargs.output_trace_dir);
  enter();
}

Profile::~Profile() {
  if (finished_) return;
  if (std::uncaught_exceptions() > uncaught_exceptions_) {
    kwargs_.on_trace_ready = nullptr;
    kwargs_.output_trace_dir.clear();
  }
  const auto warn = [](const std::string& reason) {
    get_logger("accelerate.profile")
        .warning("the profile could not be finished: " + reason, {.main_process_only = false});
  };
  try {
    stop();
    write_trace();
  } catch (const std::exception& error) {
    warn(error.what());
  } catch (...) {
    warn("on_trace_ready threw an exception of unknown type");
  }
}

void Profile::finish() {
  if (std::exchange(finished_, true)) return;
  std::exception_ptr failure;
  try {
    stop();
    write_trace();
  } catch (...) {
    failure = std::current_exception();  // thrown after the barrier, which the other ranks enter
  }
  if (!kwargs_.output_trace_dir.empty()) group_.barrier("the end of profile");
  if (failure) std::rethrow_exception(failure);
}

/// To output_trace_dir, if it is set.
void Profile::write_trace() {
  const auto& directory = kwargs_.output_trace_dir;
  if (directory.empty()) return;
  if (result_) return export_chrome_trace(directory / ("profile_" + std::to_string(group_.rank()) + ".json"));
  const auto& schedule = *kwargs_.schedule_option;  // without one everything is recorded
  get_logger("accelerate.profile")
      .warning("nothing was recorded, and " + directory.string() + " has no trace: the schedule records from step " +
               std::to_string(schedule.skip_first + schedule.wait + schedule.warmup) + " on, and there were " +
               std::to_string(step_num_) + " calls of step()");
}

void Profile::stop() {
  if (!stopped_) leave(/*last=*/true);
  stopped_ = true;
}

void Profile::step() {
  if (stopped_) fail("profile: step() was called after stop(); start another profile to record more");
  leave(/*last=*/false);
  ++step_num_;
  enter();
}

ProfileAction Profile::action() const {
  return kwargs_.schedule_option ? profile_action(*kwargs_.schedule_option, step_num_) : ProfileAction::Record;
}

/// Switches the profiler to the action of the current step.
void Profile::enter() {
  auto wanted = action();
  if (wanted != ProfileAction::None && !prepared_) prepare();
  if ((wanted == ProfileAction::Record || wanted == ProfileAction::RecordAndSave) && !recording_) start_recording();
  if (recording_ && kwargs_.schedule_option) {
    step_marker_ = std::make_unique<at::RecordFunction>(at::RecordScope::USER_SCOPE);
    auto name = "ProfilerStep#" + std::to_string(step_num_);
    if (step_marker_->isActive()) step_marker_->before(std::string_view(name));
  }
}

void Profile::leave(bool last) {
  step_marker_.reset();
  bool complete = recording_ && (last || action() == ProfileAction::RecordAndSave);
  if (complete) {
    stop_recording();
    if (kwargs_.on_trace_ready) kwargs_.on_trace_ready(*this);
  } else if (last && prepared_) {
    // The profiler can be reset only by running it.
    start_recording();
    profiler::disableProfiler();
  }
}

void Profile::prepare() {
  profiler::prepareProfiler(config_of(kwargs_), activities_of(kwargs_.activities));
  prepared_ = true;
}

void Profile::start_recording() {
  profiler::enableProfiler(
      config_of(kwargs_), activities_of(kwargs_.activities),
      {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE});
  recording_ = true;
}

void Profile::stop_recording() {
  result_ = profiler::disableProfiler();
  exported_.clear();
  recording_ = prepared_ = false;
}

KeyAverages Profile::key_averages(const KeyAveragesOptions& options) const {
  if (!result_) fail("key_averages: there is no finished recording; call stop() first, and see schedule_option");
  return KeyAverages(function_events(*result_), options, kwargs_.profile_memory, kwargs_.with_flops);
}

void Profile::export_chrome_trace(const std::filesystem::path& path) {
  if (!result_) fail(path.string(), ": there is no finished recording to export; see schedule_option");
  if (!exported_.empty()) return copy_trace(exported_, path);
  std::error_code ignored;
  std::filesystem::remove(path, ignored);  // a stale trace must not be taken for this one
  try {
    result_->save(path.string());
  } catch (const c10::Error& error) {  // for example after a truncated trace
    fail(path.string(), ": cannot be written: ", error.what_without_backtrace());
  }
  check_is_whole(path);
  exported_ = std::filesystem::absolute(path);
}

}  // namespace accelerate
