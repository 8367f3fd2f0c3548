#include "transformers/schedules/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "accelerate/base/error.h"

namespace transformers::schedules {

namespace {

using std::numbers::pi;

double ratio(int64_t part, int64_t whole) { return static_cast<double>(part) / std::max<int64_t>(1, whole); }

double half_wave(double progress, double num_cycles) { return 0.5 * (1 + std::cos(pi * num_cycles * 2 * progress)); }

double above(double floor, double factor) { return std::max(0.0, factor * (1 - floor) + floor); }

double (*warmup_slope(const std::string& type))(double progress) {
  if (type == "linear") return [](double progress) { return progress; };
  if (type == "cosine") return [](double progress) { return 0.5 * (1 - std::cos(pi * progress)); };
  if (type == "1-sqrt") return [](double progress) { return 1 - std::sqrt(1 - progress); };
  accelerate::fail("warmup_stable_decay: warmup_type is '", type, "'; it can be linear, cosine or 1-sqrt");
}

double (*decay_slope(const std::string& type))(double progress, double num_cycles) {
  if (type == "linear") return [](double progress, double) { return 1 - progress; };
  if (type == "cosine") return half_wave;
  if (type == "1-sqrt") return [](double progress, double) { return 1 - std::sqrt(progress); };
  accelerate::fail("warmup_stable_decay: decay_type is '", type, "'; it can be linear, cosine or 1-sqrt");
}

}  // namespace

Factor constant_after_warmup(int64_t num_warmup_steps) {
  return [=](int64_t step) { return step < num_warmup_steps ? ratio(step, num_warmup_steps) : 1.0; };
}

Factor linear(int64_t num_warmup_steps, int64_t num_training_steps) {
  return [=](int64_t step) {
    if (step < num_warmup_steps) return ratio(step, num_warmup_steps);
    return std::max(0.0, ratio(num_training_steps - step, num_training_steps - num_warmup_steps));
  };
}

Factor cosine(int64_t num_warmup_steps, int64_t num_training_steps, double num_cycles, double min_lr_rate) {
  return [=](int64_t step) {
    if (step < num_warmup_steps) return ratio(step, num_warmup_steps);
    double progress = ratio(step - num_warmup_steps, num_training_steps - num_warmup_steps);
    return above(min_lr_rate, half_wave(progress, num_cycles));
  };
}

Factor cosine_from_first_step(int64_t num_warmup_steps, int64_t num_training_steps, double num_cycles,
                              double min_lr_rate, std::optional<double> warmup_lr_rate) {
  return [=](int64_t step) {
    if (step < num_warmup_steps && !warmup_lr_rate) return ratio(step + 1, num_warmup_steps);
    if (step < num_warmup_steps) {
      return *warmup_lr_rate + (1 - *warmup_lr_rate) * step / std::max<int64_t>(1, num_warmup_steps - 1);
    }
    double progress = ratio(step - num_warmup_steps + 1, num_training_steps - num_warmup_steps);
    return above(min_lr_rate, half_wave(progress, num_cycles));
  };
}

Factor cosine_with_restarts(int64_t num_warmup_steps, int64_t num_training_steps, double num_cycles) {
  return [=](int64_t step) {
    if (step < num_warmup_steps) return ratio(step, num_warmup_steps);
    double progress = ratio(step - num_warmup_steps, num_training_steps - num_warmup_steps);
    if (progress >= 1) return 0.0;
    return std::max(0.0, 0.5 * (1 + std::cos(pi * std::fmod(num_cycles * progress, 1.0))));
  };
}

Factor polynomial(int64_t num_warmup_steps, int64_t num_training_steps, double lr, double lr_end, double power) {
  return [=](int64_t step) {
    if (step < num_warmup_steps) return ratio(step, num_warmup_steps);
    if (step > num_training_steps) return lr_end / lr;
    double remaining = 1 - ratio(step - num_warmup_steps, num_training_steps - num_warmup_steps);
    return ((lr - lr_end) * std::pow(remaining, power) + lr_end) / lr;
  };
}

Factor inverse_sqrt(int64_t num_warmup_steps, int64_t timescale) {
  return [=](int64_t step) {
    if (step < num_warmup_steps) return ratio(step, num_warmup_steps);
    return 1 / std::sqrt(ratio(step + (timescale - num_warmup_steps), timescale));
  };
}

Factor warmup_stable_decay(const Phases& phases) {
  auto warmup = warmup_slope(phases.warmup_type);
  auto decay = decay_slope(phases.decay_type);
  return [=](int64_t step) {
    if (step < phases.num_warmup_steps) {
      return above(phases.min_lr_ratio, warmup(ratio(step, phases.num_warmup_steps)));
    }
    int64_t decayed = step - phases.num_warmup_steps - phases.num_stable_steps;
    if (decayed < 0) return 1.0;
    if (decayed >= phases.num_decay_steps) return phases.min_lr_ratio;
    return above(phases.min_lr_ratio, decay(ratio(decayed, phases.num_decay_steps), phases.num_cycles));
  };
}

}  // namespace transformers::schedules
