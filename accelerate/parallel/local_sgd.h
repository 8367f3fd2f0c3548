#pragma once

// Local SGD: ranks train on their own for a few steps, then average their parameters.

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::parallel {

/// Overwrites the parameters with their means over the ranks. Frozen ones stay as they are. Collective.
void average_parameters(const std::vector<at::Tensor>& parameters, const comm::Group& group);

/// Averages parameters after every `local_sgd_steps` steps and when the scope ends. Gradients stay local: in the scope
/// no Replicas may be armed. Every rank makes the same number of steps.
class PeriodicAveraging {
 public:
  PeriodicAveraging(std::vector<at::Tensor> parameters, comm::Group group, int64_t local_sgd_steps,
                    bool enabled = true);
  PeriodicAveraging(const PeriodicAveraging&) = delete;
  PeriodicAveraging& operator=(const PeriodicAveraging&) = delete;

  /// Calls finish(), unless an exception is on its way.
  ~PeriodicAveraging() noexcept(false);

  /// Counts an optimizer step, and averages when it is the last of a round. Collective then.
  void step();

  /// Averages for the last time. Collective; the second call does nothing.
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
