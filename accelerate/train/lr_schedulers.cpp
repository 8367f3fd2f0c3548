#include "accelerate/train/lr_schedulers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "accelerate/base/error.h"
#include "accelerate/train/lr_scheduler.h"

namespace accelerate::lr_scheduler {

namespace {

using std::numbers::pi;
using tensors::TorchValue;

void check_factor(const char* name, double value) {
  if (!(value >= 0 && value <= 1)) fail("the scheduler's '", name, "' is ", value, "; it must be between 0 and 1");
}

/// Each rate at `angle` of a cosine that starts at the rate, at 0, and ends at `eta_min`, at pi.
std::vector<double> along_cosine(std::vector<double> lrs, double eta_min, double angle) {
  for (auto& lr : lrs) lr = eta_min + (lr - eta_min) * (1 + std::cos(angle)) / 2;
  return lrs;
}

}  // namespace

// Rates are computed from the previous ones, as in Python: two schedulers of one optimizer compose, and rounding is the
// same.

StepLR::StepLR(torch::optim::Optimizer& optimizer, const StepLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  start();
}

std::vector<double> StepLR::get_lrs() {
  if (epoch() == 0 || epoch() % options_.step_size != 0) return get_current_lrs();
  return scaled(options_.gamma);
}

MultiStepLR::MultiStepLR(torch::optim::Optimizer& optimizer, const MultiStepLROptions& options)
    : LRScheduler(optimizer), gamma_(options.gamma) {
  for (int64_t milestone : options.milestones) ++milestones_[milestone];
  start();
}

std::vector<double> MultiStepLR::get_lrs() {
  const auto found = milestones_.find(epoch());
  if (found == milestones_.end()) return get_current_lrs();
  return scaled(std::pow(gamma_, static_cast<double>(found->second)));
}

std::vector<double> MultiStepLR::lrs_at_start() {
  int64_t passed = 0;
  for (const auto& [milestone, count] : milestones_) passed += milestone <= 0 ? count : 0;
  return scaled_base(std::pow(gamma_, static_cast<double>(passed)));
}

ConstantLR::ConstantLR(torch::optim::Optimizer& optimizer, const ConstantLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  check_factor("factor", options.factor);
  start();
}

std::vector<double> ConstantLR::get_lrs() {
  if (epoch() == 0) return scaled(options_.factor);
  if (epoch() != options_.total_iters) return get_current_lrs();
  if (options_.factor == 0) {
    fail("ConstantLR: 'factor' is 0, and learning rates cannot be divided by it in step ", epoch(),
         "; use a factor above 0, or let the next scheduler of a SequentialLR begin in this step");
  }
  return scaled(1.0 / options_.factor);
}

std::vector<double> ConstantLR::lrs_at_start() {
  const double rest = options_.total_iters <= 0 ? 1 - options_.factor : 0;
  return scaled_base(options_.factor + rest);
}

LinearLR::LinearLR(torch::optim::Optimizer& optimizer, const LinearLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  check_factor("start_factor", options.start_factor);
  if (options.start_factor == 0) fail("LinearLR: 'start_factor' is 0; it must be greater than 0");
  check_factor("end_factor", options.end_factor);
  start();
}

std::vector<double> LinearLR::get_lrs() {
  if (epoch() == 0) return scaled(options_.start_factor);
  if (epoch() > options_.total_iters) return get_current_lrs();
  const double way = options_.end_factor - options_.start_factor;
  const auto steps = static_cast<double>(options_.total_iters);
  return scaled(1.0 + way / (steps * options_.start_factor + static_cast<double>(epoch() - 1) * way));
}

ExponentialLR::ExponentialLR(torch::optim::Optimizer& optimizer, const ExponentialLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  if (std::isnan(options.gamma)) fail("ExponentialLR: 'gamma' is missing; it is the factor of every step");
  start();
}

std::vector<double> ExponentialLR::get_lrs() { return epoch() == 0 ? get_current_lrs() : scaled(options_.gamma); }

PolynomialLR::PolynomialLR(torch::optim::Optimizer& optimizer, const PolynomialLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  start();
}

std::vector<double> PolynomialLR::get_lrs() {
  if (epoch() == 0 || epoch() > options_.total_iters) return get_current_lrs();
  const auto steps = static_cast<double>(options_.total_iters), now = static_cast<double>(epoch());
  return scaled(std::pow((1.0 - now / steps) / (1.0 - (now - 1) / steps), options_.power));
}

CosineAnnealingLR::CosineAnnealingLR(torch::optim::Optimizer& optimizer, const CosineAnnealingLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  start();
}

std::vector<double> CosineAnnealingLR::get_lrs() {
  auto lrs = get_current_lrs();
  if (epoch() == 0) return lrs;
  const auto steps = static_cast<double>(options_.T_max), now = static_cast<double>(epoch());
  if ((epoch() - 1 - options_.T_max) % (2 * options_.T_max) == 0) {  // rises again; the quotient below is 0 / 0 here
    for (size_t i = 0; i < lrs.size(); ++i)
      lrs[i] += (base_lrs()[i] - options_.eta_min) * (1 - std::cos(pi / steps)) / 2;
    return lrs;
  }
  const double change = (1 + std::cos(pi * now / steps)) / (1 + std::cos(pi * (now - 1) / steps));
  for (auto& lr : lrs) lr = change * (lr - options_.eta_min) + options_.eta_min;
  return lrs;
}

std::vector<double> CosineAnnealingLR::lrs_at_start() { return along_cosine(base_lrs(), options_.eta_min, 0); }

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(torch::optim::Optimizer& optimizer,
                                                         const CosineAnnealingWarmRestartsOptions& options)
    : LRScheduler(optimizer), options_(options), T_i_(options.T_0) {
  start();
}

std::vector<double> CosineAnnealingWarmRestarts::get_lrs() {
  if (epoch() == 0) {
    T_cur_ = 0;
    T_i_ = options_.T_0;
  } else if (++T_cur_ >= T_i_) {
    T_cur_ %= T_i_;
    T_i_ *= options_.T_mult;
  }
  return along_cosine(base_lrs(), options_.eta_min, pi * static_cast<double>(T_cur_) / static_cast<double>(T_i_));
}

SequentialLR::SequentialLR(torch::optim::Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
                           std::vector<int64_t> milestones)
    : LRScheduler(optimizer), schedulers_(std::move(schedulers)), milestones_(std::move(milestones)) {
  if (schedulers_.empty() || milestones_.size() + 1 != schedulers_.size()) {
    fail("SequentialLR: ", schedulers_.size(), " schedulers and ", milestones_.size(),
         " milestones; give one milestone between each two schedulers");
  }
  for (const auto& scheduler : schedulers_) {
    if (!scheduler || &scheduler->optimizer() != &optimizer) {
      fail("SequentialLR: a scheduler belongs to another optimizer; create all of them for the same optimizer");
    }
    if (dynamic_cast<const SequentialLR*>(scheduler.get())) {
      fail("SequentialLR: a scheduler is a SequentialLR itself; give all schedulers, and all milestones, in one list");
    }
  }
  for (const auto& scheduler : schedulers_) scheduler->undo();
  auto& groups = optimizer.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(base_lrs()[i]);
  start();
}

std::vector<double> SequentialLR::get_lrs() {
  const auto index = std::upper_bound(milestones_.begin(), milestones_.end(), epoch()) - milestones_.begin();
  auto& scheduler = *schedulers_[static_cast<size_t>(index)];
  const bool begins = index > 0 && milestones_[static_cast<size_t>(index) - 1] == epoch();
  begins&& epoch() > 0 ? scheduler.restart() : scheduler.step();
  return get_current_lrs();
}

TorchValue SequentialLR::state_dict() const {
  const auto last_lr = get_last_lr();
  auto states = TorchValue::list();
  for (const auto& scheduler : schedulers_) states.items().push_back(scheduler->state_dict());
  return TorchValue::dict({{"_milestones", TorchValue::list({milestones_.begin(), milestones_.end()})},
                           {"last_epoch", last_epoch()},
                           {"_last_lr", TorchValue::list({last_lr.begin(), last_lr.end()})},
                           {"_schedulers", std::move(states)}});
}

void SequentialLR::load_state_dict(const TorchValue& state) {
  const auto& states = state.at("_schedulers").items();
  if (states.size() != schedulers_.size()) {
    fail("SequentialLR: the state has ", states.size(), " schedulers; there are ", schedulers_.size());
  }
  std::vector<int64_t> milestones;
  for (const auto& milestone : state.at("_milestones").items()) milestones.push_back(milestone.integer());
  if (milestones.size() != milestones_.size()) {
    fail("SequentialLR: the state has ", milestones.size(), " milestones; there are ", milestones_.size());
  }
  const auto before = state_dict();
  try {
    for (size_t i = 0; i < states.size(); ++i) schedulers_[i]->load_state_dict(states[i]);
    train::load_lr_scheduler_state(*this, state);
  } catch (...) {
    const auto& old_states = before.at("_schedulers").items();
    for (size_t i = 0; i < old_states.size(); ++i) schedulers_[i]->load_state_dict(old_states[i]);
    throw;
  }
  milestones_ = std::move(milestones);
}

}  // namespace accelerate::lr_scheduler
