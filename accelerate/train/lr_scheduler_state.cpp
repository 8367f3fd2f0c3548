#include "accelerate/train/lr_scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <typeinfo>

#include <torch/optim/schedulers/step_lr.h>

#include "accelerate/base/scope.h"

namespace accelerate::train {
namespace {

using tensors::TorchValue;

// These members are protected. A derived class may form pointers to them and apply them to objects of the base class.
struct Protected : torch::optim::LRScheduler {
  static constexpr auto step_count() { return &Protected::step_count_; }
  static constexpr auto current_lrs() { return &Protected::get_current_lrs; }
};

}  // namespace

TorchValue lr_scheduler_state_dict(const torch::optim::LRScheduler& scheduler) {
  // libtorch's first step corresponds to Python's constructor: its count equals Python's, and last_epoch is one less.
  const int64_t step_count = scheduler.*Protected::step_count();
  const auto last_lr = learning_rates(scheduler);
  return TorchValue::dict({{"last_epoch", step_count - 1},
                           {"_step_count", std::max<int64_t>(step_count, 1)},
                           {"_is_initial", false},
                           {"_get_lr_called_within_step", false},
                           {"_last_lr", TorchValue::list({last_lr.begin(), last_lr.end()})}});
}

void load_lr_scheduler_state(torch::optim::LRScheduler& scheduler, const TorchValue& state) {
  const int64_t last_epoch = state.at("last_epoch").integer();
  if (last_epoch < -1) fail("the state of the scheduler: 'last_epoch' is ", last_epoch, "; it must be at least -1");
  scheduler.*Protected::step_count() = static_cast<unsigned>(last_epoch + 1);
}

void start_as_python(torch::optim::LRScheduler& scheduler) {
  if (typeid(scheduler) == typeid(torch::optim::StepLR) && scheduler.*Protected::step_count() == 0) scheduler.step();
}

std::vector<double> learning_rates(const torch::optim::LRScheduler& scheduler) {
  return (scheduler.*Protected::current_lrs())();
}

bool sets_rates_of(const torch::optim::LRScheduler& scheduler, torch::optim::Optimizer& optimizer) {
  // The scheduler's reference to its optimizer is private, and C++ has no pointers to reference members. So set the
  // rate to NaN for a moment: only schedulers of this optimizer report it.
  auto& options = optimizer.param_groups().front().options();
  double rate = 0;
  try {
    rate = options.get_lr();
  } catch (const c10::Error&) {
    return false;  // custom options without a rate
  }
  ScopeExit restore([&] { options.set_lr(rate); });
  options.set_lr(std::numeric_limits<double>::quiet_NaN());
  return std::isnan(learning_rates(scheduler).front());
}

}  // namespace accelerate::train
