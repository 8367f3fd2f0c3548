#include "accelerate/train/lr_scheduler_state.h"

namespace accelerate::train {
namespace {

using tensors::TorchValue;

// What is wanted is protected. A member of a derived class may name it, for objects of the base class too.
struct Protected : torch::optim::LRScheduler {
  static constexpr auto step_count() { return &Protected::step_count_; }
  static constexpr auto current_lrs() { return &Protected::get_current_lrs; }
};

}  // namespace

TorchValue lr_scheduler_state_dict(const torch::optim::LRScheduler& scheduler) {
  // libtorch's first step is what Python's constructor does: its count is Python's, and one more than last_epoch.
  const int64_t step_count = scheduler.*Protected::step_count();
  const auto last_lr = (scheduler.*Protected::current_lrs())();
  return TorchValue::dict({{"last_epoch", step_count - 1},
                           {"_step_count", step_count},
                           {"_is_initial", false},
                           {"_get_lr_called_within_step", false},
                           {"_last_lr", TorchValue::list({last_lr.begin(), last_lr.end()})}});
}

void load_lr_scheduler_state(torch::optim::LRScheduler& scheduler, const TorchValue& state) {
  const int64_t last_epoch = state.at("last_epoch").integer();
  if (last_epoch < -1) fail("the state of the scheduler: 'last_epoch' is ", last_epoch, "; -1 is the least it can be");
  scheduler.*Protected::step_count() = static_cast<unsigned>(last_epoch + 1);
}

}  // namespace accelerate::train
