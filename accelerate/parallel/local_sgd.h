#pragma once

// Local SGD: ranks take several steps without communication, then average their parameters.

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::parallel {

/// Overwrites the parameters with their means over the ranks, except frozen ones. Collective.
void average_parameters(const std::vector<at::Tensor>& parameters, const comm::Group& group);

/// Averages parameters after every `local_sgd_steps` steps and in finish(). Gradients stay local: no model may be armed
/// meanwhile. All ranks take the same number of steps.
class PeriodicAveraging {
 public:
  PeriodicAveraging(std::vector<at::Tensor> parameters, comm::Group group, int64_t local_sgd_steps,
                    bool enabled = true);
  PeriodicAveraging(const PeriodicAveraging&) = delete;
  PeriodicAveraging& operator=(const PeriodicAveraging&) = delete;

  /// Does not average: call finish() first. Warns if steps were taken since the last average, unless the stack is
  /// unwinding.
  ~PeriodicAveraging();

  /// Counts an optimizer step. Averages after every `local_sgd_steps`; collective then.
  void step();

  /// Averages once more and ends the averaging. Collective; a second call does nothing.
  void finish();

 private:
  std::vector<at::Tensor> parameters_;
  comm::Group group_;
  int64_t local_sgd_steps_;
  bool enabled_;
  int64_t num_steps_ = 0;
  int exceptions_at_entry_;
};

}  // namespace accelerate::parallel
