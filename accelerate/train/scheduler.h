#pragma once

// The prepared scheduler: follows the optimizer steps that were not skipped, and counts in samples, independent of the
// number of processes.

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <torch/optim/schedulers/lr_scheduler.h>

#include "accelerate/base/error.h"
#include "accelerate/train/gradient_state.h"
#include "accelerate/train/lr_scheduler.h"
#include "accelerate/train/lr_schedulers.h"
#include "accelerate/train/optimizer.h"

namespace accelerate::train {

/// Anything with step(): the classes of lr_schedulers.h, torch::optim::LRScheduler and derived classes, torch's
/// ReduceLROnPlateauScheduler (by a metric), or a custom class. Optional members: with `total_steps()` and
/// `step_count()`, which starts at 1 as in Python, it is not stepped beyond the total; `get_last_lr()` provides the
/// result of the handle's; with `optimizer()`, it follows the steps of that optimizer. For checkpoints a custom class
/// needs `state_dict()`, which returns a TorchValue, and `load_state_dict(state)`.
template <class S>
concept SchedulerLike = requires(S& scheduler) { scheduler.step(); } || requires(S& scheduler) { scheduler.step(0.0); };

/// A smart pointer to a scheduler.
template <class P>
concept SchedulerPointer = requires(P& pointer) {
  typename P::element_type;
  *pointer;
} && SchedulerLike<typename P::element_type>;

struct SchedulerOptions {
  bool step_with_optimizer = true;  // false: every step() is one step, regardless of optimizers
  bool split_batches = false;       // global batch and schedule are independent of the number of processes
  int num_processes = 1;
};

/// A handle on a scheduler; copies refer to the same one.
class Scheduler {
 public:
  /// Borrows an lvalue, owns an rvalue; a smart pointer stands for its target. Follows the steps of its own optimizer
  /// if that is among `optimizers`, now or later. If its optimizer is unknown, follows all of them. A
  /// torch::optim::StepLR that has not been stepped takes the step that Python's takes in its constructor, so that it
  /// decays in the same steps.
  template <class S>
  Scheduler(S&& scheduler, std::shared_ptr<const std::vector<Optimizer>> optimizers,
            std::shared_ptr<GradientState> gradient_state, SchedulerOptions options = {})
      : target_(make_target(std::forward<S>(scheduler))),
        optimizers_(std::move(optimizers)),
        gradient_state_(std::move(gradient_state)),
        options_(options) {
    find_optimizer();
  }

  template <class S>
  Scheduler(S&& scheduler, std::vector<Optimizer> optimizers, std::shared_ptr<GradientState> gradient_state,
            SchedulerOptions options = {})
      : Scheduler(std::forward<S>(scheduler), std::make_shared<const std::vector<Optimizer>>(std::move(optimizers)),
                  std::move(gradient_state), options) {}

  /// Whether both are handles on the same scheduler.
  bool operator==(const Scheduler& other) const { return target_->object() == other.target_->object(); }

  /// Advances the schedule by one optimizer step: one scheduler step per process, or a single one with `split_batches`.
  /// Does nothing inside an accumulation window, or if its optimizer skipped its step.
  void step() { advance(std::nullopt); }

  /// The same for a scheduler that follows a metric. Throws Error for other schedulers.
  void step(double metric) { advance(metric); }

  /// The current learning rate of each parameter group.
  std::vector<double> get_last_lr() const;

  /// The state for checkpoints. Throws Error for a custom class without state_dict().
  tensors::TorchValue state_dict() const { return target_->state_dict(); }

  /// Resumes from `state`.
  void load_state_dict(const tensors::TorchValue& state) { target_->load_state_dict(state); }

 private:
  class Target {
   public:
    virtual ~Target() = default;
    virtual const void* object() const = 0;
    virtual bool is_of(torch::optim::Optimizer& optimizer) const = 0;  // false if unknown; asked once per optimizer
    virtual void step(std::optional<double> metric) = 0;
    virtual bool finished() const = 0;
    virtual std::optional<std::vector<double>> get_last_lr() const = 0;
    virtual tensors::TorchValue state_dict() const = 0;
    virtual void load_state_dict(const tensors::TorchValue& state) = 0;

    const torch::optim::Optimizer* optimizer = nullptr;  // the one that it is of, once that is known
    size_t num_asked = 0;                                // optimizers that were compared with it
  };
  template <class S>
  class TargetOf;

  template <class S>
  static std::shared_ptr<Target> make_target(S&& scheduler);

  void advance(std::optional<double> metric);
  void find_optimizer() const;
  std::vector<Optimizer> followed_optimizers() const;

  std::shared_ptr<Target> target_;
  std::shared_ptr<const std::vector<Optimizer>> optimizers_;
  std::shared_ptr<GradientState> gradient_state_;
  SchedulerOptions options_;
};

template <class S>
class Scheduler::TargetOf final : public Target {
 public:
  explicit TargetOf(std::shared_ptr<S> scheduler) : scheduler_(std::move(scheduler)) {
    if constexpr (std::derived_from<S, torch::optim::LRScheduler>) start_as_python(*scheduler_);
  }

  const void* object() const override { return scheduler_.get(); }

  bool is_of(torch::optim::Optimizer& optimizer) const override {
    if constexpr (requires { static_cast<const torch::optim::Optimizer&>(scheduler_->optimizer()); }) {
      return &static_cast<const torch::optim::Optimizer&>(scheduler_->optimizer()) == &optimizer;
    } else if constexpr (std::derived_from<S, torch::optim::LRScheduler>) {
      return sets_rates_of(*scheduler_, optimizer);
    } else {
      return false;
    }
  }

  void step(std::optional<double> metric) override {
    if (metric) {
      if constexpr (requires { scheduler_->step(*metric); }) return scheduler_->step(*metric);
      fail("scheduler.step(", *metric, "): this scheduler takes no metric; call step()");
    }
    if constexpr (requires { scheduler_->step(); }) return scheduler_->step();
    fail("scheduler.step(): this scheduler follows a metric; call step(metric)");
  }

  bool finished() const override {
    if constexpr (requires { scheduler_->step_count() > scheduler_->total_steps(); }) {
      return scheduler_->step_count() > scheduler_->total_steps();
    }
    return false;
  }

  std::optional<std::vector<double>> get_last_lr() const override {
    if constexpr (requires { std::vector<double>(scheduler_->get_last_lr()); }) {
      return scheduler_->get_last_lr();
    } else if constexpr (std::derived_from<S, torch::optim::LRScheduler>) {
      return learning_rates(*scheduler_);
    } else {
      return std::nullopt;
    }
  }

  tensors::TorchValue state_dict() const override {
    if constexpr (requires { tensors::TorchValue(scheduler_->state_dict()); }) {
      return scheduler_->state_dict();
    } else if constexpr (std::derived_from<S, torch::optim::LRScheduler>) {
      if (auto* ours = dynamic_cast<const lr_scheduler::LRScheduler*>(scheduler_.get())) return ours->state_dict();
      return lr_scheduler_state_dict(*scheduler_);
    } else if constexpr (std::derived_from<S, torch::optim::ReduceLROnPlateauScheduler>) {
      return plateau_state_dict(*scheduler_);
    } else {
      fail_without_state();
    }
  }

  void load_state_dict(const tensors::TorchValue& state) override {
    if constexpr (requires { scheduler_->load_state_dict(state); }) {
      scheduler_->load_state_dict(state);
    } else if constexpr (std::derived_from<S, torch::optim::LRScheduler>) {
      if (auto* ours = dynamic_cast<lr_scheduler::LRScheduler*>(scheduler_.get())) return ours->load_state_dict(state);
      load_lr_scheduler_state(*scheduler_, state);
    } else if constexpr (std::derived_from<S, torch::optim::ReduceLROnPlateauScheduler>) {
      load_plateau_state(*scheduler_, state);
    } else {
      fail_without_state();
    }
  }

 private:
  [[noreturn]] static void fail_without_state() {
    fail(
        "this scheduler cannot be part of a checkpoint: it has no state_dict() and load_state_dict(). Give it both, or "
        "use one of accelerate::lr_scheduler, of torch::optim or transformers::get_scheduler");
  }

  std::shared_ptr<S> scheduler_;
};

template <class S>
std::shared_ptr<Scheduler::Target> Scheduler::make_target(S&& scheduler) {
  using Plain = std::remove_cvref_t<S>;
  if constexpr (SchedulerPointer<Plain>) {
    using Element = typename Plain::element_type;
    if constexpr (std::is_constructible_v<std::shared_ptr<Element>, S>) {
      return std::make_shared<TargetOf<Element>>(std::shared_ptr<Element>(std::forward<S>(scheduler)));
    } else {
      return make_target(*scheduler);
    }
  } else {
    static_assert(SchedulerLike<Plain>, "a scheduler needs a member step() or step(metric)");
    if constexpr (std::is_lvalue_reference_v<S>) {
      return std::make_shared<TargetOf<Plain>>(std::shared_ptr<Plain>(std::shared_ptr<void>(), &scheduler));
    } else {
      return std::make_shared<TargetOf<Plain>>(std::make_shared<Plain>(std::move(scheduler)));
    }
  }
}

}  // namespace accelerate::train

namespace accelerate {
using train::Scheduler;
using train::SchedulerOptions;
}  // namespace accelerate
