#pragma once

// The curves of the schedules: what the initial learning rate is multiplied by at each step. Pure arithmetic, in the
// order of operations of Python's, so that the results are equal to the bit.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace transformers::schedules {

/// The factor at a step, counted from 0.
using Factor = std::function<double(int64_t step)>;

/// Rises from 0 to 1 in `num_warmup_steps`, then stays.
Factor constant_after_warmup(int64_t num_warmup_steps);

/// Falls on a line to 0 at `num_training_steps` after the warm-up.
Factor linear(int64_t num_warmup_steps, int64_t num_training_steps);

/// Falls on `num_cycles` waves of a cosine, of which half a one ends at the bottom, to `min_lr_rate`. Beyond
/// `num_training_steps` the wave goes on.
Factor cosine(int64_t num_warmup_steps, int64_t num_training_steps, double num_cycles, double min_lr_rate);

/// The same one step earlier, with a warm-up that does not begin at 0 but with its first step, or at `warmup_lr_rate`.
Factor cosine_from_first_step(int64_t num_warmup_steps, int64_t num_training_steps, double num_cycles,
                              double min_lr_rate, std::optional<double> warmup_lr_rate);

/// Falls `num_cycles` times from 1 to 0 on half a cosine.
Factor cosine_with_restarts(int64_t num_warmup_steps, int64_t num_training_steps, double num_cycles);

/// Falls from `lr` to `lr_end` by a power of what remains.
Factor polynomial(int64_t num_warmup_steps, int64_t num_training_steps, double lr, double lr_end, double power);

/// Falls with the square root of the steps.
Factor inverse_sqrt(int64_t num_warmup_steps, int64_t timescale);

/// How long each phase of warmup_stable_decay takes, and how its slopes look: linear, cosine or 1-sqrt.
struct Phases {
  int64_t num_warmup_steps = 0;
  int64_t num_stable_steps = 0;
  int64_t num_decay_steps = 0;
  std::string warmup_type = "linear";
  std::string decay_type = "cosine";
  double min_lr_ratio = 0;
  double num_cycles = 0.5;
};

/// Rises, stays at 1, falls to `min_lr_ratio` and stays there. Throws Error for an unknown slope.
Factor warmup_stable_decay(const Phases& phases);

}  // namespace transformers::schedules
