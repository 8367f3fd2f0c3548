#include "accelerate/parallel/join.h"

#include <torch/types.h>

namespace accelerate::parallel {

namespace {
constexpr int64_t kNumEvents = 4;
}

Join::Join(std::vector<std::shared_ptr<DistributedModel>> models, comm::Group group)
    : models_(std::move(models)), group_(std::move(group)) {
  if (group_.size() == 1) return;
  for (size_t i = 0; i < models_.size(); ++i) models_[i]->enter(this, i);
}

void Join::finish() {
  if (finished_) return;
  leave();
  if (group_.size() == 1) return;
  while (true) {
    auto [event, model] = announce(Event::None, 0);
    if (event == Event::None) break;
    if (event == Event::Buffers) models_[model]->copy_buffers_from(leader_);
    if (event == Event::Gradients) models_[model]->shadow_gradients();
    if (event == Event::Sum) sum(0);
  }
  for (const auto& model : models_) model->copy_model_from(leader_);
}

int64_t Join::sum(int64_t number) const {
  auto numbers = torch::tensor({number}, torch::kLong);
  group_.all_reduce(numbers);
  return numbers.item<int64_t>();
}

void Join::leave() {
  if (!finished_ && group_.size() > 1) {
    for (const auto& model : models_) model->enter(nullptr, 0);
  }
  finished_ = true;
}

Join::Announcement Join::announce(Event event, size_t model) {
  bool training = event != Event::None;
  int64_t code = static_cast<int64_t>(event) + kNumEvents * static_cast<int64_t>(model);
  auto numbers = torch::tensor({code, training ? int64_t{group_.rank()} : int64_t{-1}});
  group_.all_reduce(numbers, comm::Reduction::Max);
  code = numbers[0].item<int64_t>();
  auto leader = numbers[1].item<int64_t>();
  if (leader >= 0) leader_ = static_cast<int>(leader);
  return {static_cast<Event>(code % kNumEvents), static_cast<size_t>(code / kNumEvents)};
}

}  // namespace accelerate::parallel
