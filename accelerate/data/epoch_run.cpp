#include "accelerate/data/epoch_run.h"

#include <utility>

namespace accelerate::data {

EpochRun::EpochRun(std::shared_ptr<PreparedCore> core, std::shared_ptr<EpochEnd> end)
    : core_(std::move(core)), end_(std::move(end)), progress_(std::make_shared<LoaderProgress>()) {
  progress_->remainder = core_->known_remainder();
  core_->progress_ = progress_;
  if (auto& active = core_->options_.active_loaders) active->add(progress_);
}

EpochRun::~EpochRun() { leave(); }

void EpochRun::deliver(bool is_last) {
  ++core_->place_->batches_seen;
  if (!is_last) return;
  progress_->end_of_dataloader = true;
  const bool may_have_repeats = core_->dispatches_ || !core_->loader_->drop_last();
  if (progress_->remainder < 0 && may_have_repeats) progress_->remainder = end_->last_round_size;
}

void EpochRun::finish() {
  if (std::exchange(finished_, true)) return;
  ++core_->place_->iteration;
  core_->place_->batches_seen = 0;
  leave();
}

void EpochRun::leave() {
  if (auto& active = core_->options_.active_loaders) active->remove(progress_);
}

}  // namespace accelerate::data
