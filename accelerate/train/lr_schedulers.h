#pragma once

// The schedules of Python's torch.optim.lr_scheduler, bit-identical. libtorch has only StepLR, whose count starts one
// step later.
//
//   namespace lr_scheduler = accelerate::lr_scheduler;
//   lr_scheduler::CosineAnnealingLR schedule(adamw, {.T_max = 1000});

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "accelerate/train/lr_scheduler.h"

namespace accelerate::lr_scheduler {

using train::LambdaLR;

struct StepLROptions {
  int64_t step_size = 0;  // required
  double gamma = 0.1;
};

/// Multiplies the rates by `gamma` every `step_size` steps.
class StepLR final : public LRScheduler {
 public:
  StepLR(torch::optim::Optimizer& optimizer, const StepLROptions& options);

 private:
  std::vector<double> get_lrs() override;
  std::vector<double> lrs_at_start() override { return base_lrs(); }
  std::vector<Field> fields() override { return {{"step_size", &options_.step_size, 1}, {"gamma", &options_.gamma}}; }

  StepLROptions options_;
};

struct MultiStepLROptions {
  std::vector<int64_t> milestones = {};  // a repeated milestone counts twice
  double gamma = 0.1;
};

/// Multiplies the rates by `gamma` at each milestone.
class MultiStepLR final : public LRScheduler {
 public:
  MultiStepLR(torch::optim::Optimizer& optimizer, const MultiStepLROptions& options);

 private:
  std::vector<double> get_lrs() override;
  std::vector<double> lrs_at_start() override;
  std::vector<Field> fields() override { return {{"milestones", &milestones_}, {"gamma", &gamma_}}; }

  std::map<int64_t, int64_t> milestones_;  // and how often each occurs
  double gamma_;
};

struct ConstantLROptions {
  double factor = 1.0 / 3;
  int64_t total_iters = 5;
};

/// Multiplies the rates by `factor` until step `total_iters`. With a factor of 0 that step throws Error.
class ConstantLR final : public LRScheduler {
 public:
  ConstantLR(torch::optim::Optimizer& optimizer, const ConstantLROptions& options = {});

 private:
  std::vector<double> get_lrs() override;
  std::vector<double> lrs_at_start() override;
  std::vector<Field> fields() override {
    return {{"factor", &options_.factor}, {"total_iters", &options_.total_iters}};
  }

  ConstantLROptions options_;
};

struct LinearLROptions {
  double start_factor = 1.0 / 3;
  double end_factor = 1.0;
  int64_t total_iters = 5;
};

/// Multiplies the rates by a factor that goes from `start_factor` to `end_factor` in `total_iters` steps.
class LinearLR final : public LRScheduler {
 public:
  LinearLR(torch::optim::Optimizer& optimizer, const LinearLROptions& options = {});

 private:
  std::vector<double> get_lrs() override;
  std::vector<double> lrs_at_start() override { return scaled_base(options_.start_factor); }
  std::vector<Field> fields() override {
    return {{"start_factor", &options_.start_factor},
            {"end_factor", &options_.end_factor},
            {"total_iters", &options_.total_iters}};
  }

  LinearLROptions options_;
};

struct ExponentialLROptions {
  double gamma = std::numeric_limits<double>::quiet_NaN();  // required
};

/// Multiplies the rates by `gamma` in every step.
class ExponentialLR final : public LRScheduler {
 public:
  ExponentialLR(torch::optim::Optimizer& optimizer, const ExponentialLROptions& options);

 private:
  std::vector<double> get_lrs() override;
  std::vector<double> lrs_at_start() override { return base_lrs(); }
  std::vector<Field> fields() override { return {{"gamma", &options_.gamma}}; }

  ExponentialLROptions options_;
};

struct PolynomialLROptions {
  int64_t total_iters = 5;
  double power = 1.0;
};

/// Decays the rates to 0 in `total_iters` steps, along a polynomial.
class PolynomialLR final : public LRScheduler {
 public:
  PolynomialLR(torch::optim::Optimizer& optimizer, const PolynomialLROptions& options = {});

 private:
  std::vector<double> get_lrs() override;
  std::vector<double> lrs_at_start() override { return base_lrs(); }
  std::vector<Field> fields() override { return {{"total_iters", &options_.total_iters}, {"power", &options_.power}}; }

  PolynomialLROptions options_;
};

struct CosineAnnealingLROptions {
  int64_t T_max = 0;  // half a period, in steps; required
  double eta_min = 0;
};

/// The rates follow a cosine between their initial values and `eta_min`.
class CosineAnnealingLR final : public LRScheduler {
 public:
  CosineAnnealingLR(torch::optim::Optimizer& optimizer, const CosineAnnealingLROptions& options);

 private:
  std::vector<double> get_lrs() override;
  std::vector<double> lrs_at_start() override;
  std::vector<Field> fields() override { return {{"T_max", &options_.T_max, 1}, {"eta_min", &options_.eta_min}}; }

  CosineAnnealingLROptions options_;
};

struct CosineAnnealingWarmRestartsOptions {
  int64_t T_0 = 0;  // steps until the first restart; required
  int64_t T_mult = 1;
  double eta_min = 0;
};

/// Decays the rates along a cosine to `eta_min`, then restarts. Each period is `T_mult` times as long as the last.
class CosineAnnealingWarmRestarts final : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(torch::optim::Optimizer& optimizer, const CosineAnnealingWarmRestartsOptions& options);

 private:
  std::vector<double> get_lrs() override;
  std::vector<Field> fields() override {
    return {{"T_0", &options_.T_0, 1},
            {"T_i", &T_i_, 1},
            {"T_mult", &options_.T_mult, 1},
            {"eta_min", &options_.eta_min},
            {"T_cur", &T_cur_}};
  }

  CosineAnnealingWarmRestartsOptions options_;
  int64_t T_i_;        // length of the current period
  int64_t T_cur_ = 0;  // steps taken in it
};

/// Chains schedulers: each milestone switches to the next one. For example a warm-up, then a decay:
///
///   SequentialLR(adamw, {std::make_shared<LinearLR>(adamw, LinearLROptions{.total_iters = 100}),
///                        std::make_shared<CosineAnnealingLR>(adamw, CosineAnnealingLROptions{.T_max = 900})}, {100});
class SequentialLR final : public LRScheduler {
 public:
  /// Throws Error if a scheduler belongs to another optimizer or is a SequentialLR itself, or if the number of
  /// milestones is not one less than the number of schedulers.
  SequentialLR(torch::optim::Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
               std::vector<int64_t> milestones);

  tensors::TorchValue state_dict() const override;
  void load_state_dict(const tensors::TorchValue& state) override;

 private:
  std::vector<double> get_lrs() override;

  std::vector<std::shared_ptr<LRScheduler>> schedulers_;
  std::vector<int64_t> milestones_;
};

}  // namespace accelerate::lr_scheduler
