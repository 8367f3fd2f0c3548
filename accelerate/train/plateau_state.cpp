#include "accelerate/train/lr_scheduler.h"

#include <limits>

#include "accelerate/base/error.h"

namespace accelerate::train {
namespace {

using tensors::TorchValue;
using Plateau = torch::optim::ReduceLROnPlateauScheduler;

// These members are private. An explicit template instantiation may name them nevertheless (C++ [temp.spec]), and
// defines a function that returns a pointer to them.
template <class Member, auto pointer>
struct Exposed {
  friend typename Member::Pointer pointer_to(Member) { return pointer; }
};
struct Best {
  using Pointer = float Plateau::*;
  friend Pointer pointer_to(Best);
};
struct NumBadEpochs {
  using Pointer = int Plateau::*;
  friend Pointer pointer_to(NumBadEpochs);
};
struct CooldownCounter {
  using Pointer = int Plateau::*;
  friend Pointer pointer_to(CooldownCounter);
};
struct LastEpoch {
  using Pointer = int Plateau::*;
  friend Pointer pointer_to(LastEpoch);
};
template struct Exposed<Best, &Plateau::best>;
template struct Exposed<NumBadEpochs, &Plateau::num_bad_epochs>;
template struct Exposed<CooldownCounter, &Plateau::cooldown_counter>;
template struct Exposed<LastEpoch, &Plateau::last_epoch>;

int count_in(const TorchValue& state, const char* key) {
  const auto count = state.at(key).integer();
  if (count < 0 || count > std::numeric_limits<int>::max()) {
    fail("the state of the scheduler: '", key, "' is ", count, ", which is not a count");
  }
  return static_cast<int>(count);
}

}  // namespace

TorchValue plateau_state_dict(const Plateau& scheduler) {
  return TorchValue::dict({{"best", static_cast<double>(scheduler.*pointer_to(Best()))},
                           {"num_bad_epochs", int64_t{scheduler.*pointer_to(NumBadEpochs())}},
                           {"cooldown_counter", int64_t{scheduler.*pointer_to(CooldownCounter())}},
                           {"last_epoch", int64_t{scheduler.*pointer_to(LastEpoch())}}});
}

void load_plateau_state(Plateau& scheduler, const TorchValue& state) {
  const auto best = state.at("best").number();
  const int num_bad_epochs = count_in(state, "num_bad_epochs");
  const int cooldown_counter = count_in(state, "cooldown_counter");
  const int last_epoch = count_in(state, "last_epoch");
  scheduler.*pointer_to(Best()) = static_cast<float>(best);
  scheduler.*pointer_to(NumBadEpochs()) = num_bad_epochs;
  scheduler.*pointer_to(CooldownCounter()) = cooldown_counter;
  scheduler.*pointer_to(LastEpoch()) = last_epoch;
}

}  // namespace accelerate::train
