#include "accelerate/profile.h"

#include <exception>
#include <set>

#include <ATen/Context.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"

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
         "; active has to be at least 1, the others at least 0");
  }
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

Profile::~Profile() noexcept(false) {
  if (std::uncaught_exceptions() > uncaught_exceptions_) {
    kwargs_.on_trace_ready = nullptr;
    kwargs_.output_trace_dir.clear();
  }
  leave(/*last=*/true);
  if (kwargs_.output_trace_dir.empty()) return;
  if (result_) export_chrome_trace(kwargs_.output_trace_dir / ("profile_" + std::to_string(group_.rank()) + ".json"));
  group_.barrier("the end of profile");
}

void Profile::step() {
  leave(/*last=*/false);
  ++step_num_;
  enter();
}

ProfileAction Profile::action() const {
  return kwargs_.schedule_option ? profile_action(*kwargs_.schedule_option, step_num_) : ProfileAction::Record;
}

/// Brings the profiler into the state that the step at hand wants.
void Profile::enter() {
  auto wanted = action();
  if (wanted != ProfileAction::None && !prepared_) prepare();
  if ((wanted == ProfileAction::Record || wanted == ProfileAction::RecordAndSave) && !recording_) start();
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
    stop();
    if (kwargs_.on_trace_ready) kwargs_.on_trace_ready(*this);
  } else if (last && prepared_) {
    // The profiler forgets its preparations only by running.
    start();
    profiler::disableProfiler();
  }
}

void Profile::prepare() {
  profiler::prepareProfiler(config_of(kwargs_), activities_of(kwargs_.activities));
  prepared_ = true;
}

void Profile::start() {
  profiler::enableProfiler(
      config_of(kwargs_), activities_of(kwargs_.activities),
      {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE});
  recording_ = true;
}

void Profile::stop() {
  result_ = profiler::disableProfiler();
  recording_ = prepared_ = false;
}

void Profile::export_chrome_trace(const std::filesystem::path& path) const {
  if (!result_) fail(path.string(), ": there is no finished recording to export; see schedule_option");
  result_->save(path.string());
}

}  // namespace accelerate
