#include "accelerate/train/lr_scheduler.h"

#include <mutex>

#include "accelerate/base/error.h"

namespace accelerate::lr_scheduler {

namespace {

using tensors::TorchValue;

TorchValue stored_field(const double* value) { return *value; }
TorchValue stored_field(const int64_t* value) { return *value; }
TorchValue stored_field(const std::map<int64_t, int64_t>* counts) {
  TorchValue::Entries entries;
  for (const auto& [key, count] : *counts) entries.emplace_back(key, count);
  return TorchValue::dict(std::move(entries));
}

void read_field(const TorchValue& value, double* field) { *field = value.number(); }
void read_field(const TorchValue& value, int64_t* field) { *field = value.integer(); }
void read_field(const TorchValue& value, std::map<int64_t, int64_t>* counts) {
  counts->clear();
  for (const auto& [key, count] : value.entries()) counts->emplace(key.integer(), count.integer());
}

void check_minimum(const char* name, int64_t value, int64_t minimum) {
  if (value < minimum) fail("the scheduler's '", name, "' is ", value, "; it must be at least ", minimum);
}
void check_minimum(const char*, const auto&, int64_t) {}

void set_lrs(torch::optim::Optimizer& optimizer, const std::vector<double>& lrs) {
  auto& groups = optimizer.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(lrs.at(i));
}

std::vector<double> numbers_in(const TorchValue& list) {
  std::vector<double> numbers;
  for (const auto& item : list.items()) numbers.push_back(item.number());
  return numbers;
}

}  // namespace

InitialLrs initial_lrs_of(torch::optim::Optimizer& optimizer, std::vector<double> current_lrs) {
  static std::mutex mutex;
  static auto* known = new std::map<const torch::optim::Optimizer*, std::weak_ptr<const std::vector<double>>>;
  std::lock_guard lock(mutex);
  std::erase_if(*known, [](const auto& entry) { return entry.second.expired(); });
  auto& place = (*known)[&optimizer];
  auto rates = place.lock();
  // Groups may have been added in the meantime.
  if (rates && rates->size() == current_lrs.size()) return rates;
  rates = std::make_shared<const std::vector<double>>(std::move(current_lrs));
  place = rates;
  return rates;
}

LRScheduler::LRScheduler(torch::optim::Optimizer& optimizer)
    : torch::optim::LRScheduler(optimizer),
      optimizer_(&optimizer),
      base_lrs_(initial_lrs_of(optimizer, get_current_lrs())) {}

void LRScheduler::start() {
  for (const auto& field : fields()) {
    std::visit([&](const auto* value) { check_minimum(field.name, *value, field.minimum); }, field.value);
  }
  step();
}

void LRScheduler::restart() {
  step_count_ = 0;
  set_lrs(*optimizer_, lrs_at_start());
  step_count_ = 1;
}

TorchValue LRScheduler::state_dict() const {
  TorchValue::Entries entries;
  for (const auto& field : const_cast<LRScheduler*>(this)->fields()) {
    entries.emplace_back(field.name, std::visit([](const auto* value) { return stored_field(value); }, field.value));
  }
  entries.emplace_back("base_lrs", TorchValue::list({base_lrs_->begin(), base_lrs_->end()}));
  auto state = train::lr_scheduler_state_dict(*this);
  for (auto& entry : state.entries()) entries.push_back(std::move(entry));
  return TorchValue::dict(std::move(entries));
}

void LRScheduler::load_state_dict(const TorchValue& state) {
  auto base_lrs = numbers_in(state.at("base_lrs"));
  if (base_lrs.size() != base_lrs_->size()) {
    fail("the state of the scheduler has 'base_lrs' for ", base_lrs.size(), " groups of parameters; the optimizer has ",
         base_lrs_->size());
  }
  for (const auto& field : fields()) {
    // Reads into a copy first, so that a value of the wrong type throws before anything is changed.
    std::visit(
        [&](const auto* value) {
          auto copy = *value;
          read_field(state.at(field.name), &copy);
          check_minimum(field.name, copy, field.minimum);
        },
        field.value);
  }
  train::load_lr_scheduler_state(*this, state);
  for (const auto& field : fields()) {
    std::visit([&](auto* value) { read_field(state.at(field.name), value); }, field.value);
  }
  base_lrs_ = std::make_shared<const std::vector<double>>(std::move(base_lrs));
}

std::vector<double> LRScheduler::scaled(double factor) const {
  auto lrs = get_current_lrs();
  for (auto& lr : lrs) lr *= factor;
  return lrs;
}

std::vector<double> LRScheduler::scaled_base(double factor) const {
  auto lrs = base_lrs();
  for (auto& lr : lrs) lr *= factor;
  return lrs;
}

}  // namespace accelerate::lr_scheduler
