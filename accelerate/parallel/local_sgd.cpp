#include "accelerate/parallel/local_sgd.h"

#include <exception>

#include <ATen/ATen.h>
#include <torch/csrc/utils/tensor_flatten.h>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/tensors/distinct_tensors.h"

namespace accelerate::parallel {

namespace {
constexpr size_t kBucketBytes = 25 * 1024 * 1024;
}

void average_parameters(const std::vector<at::Tensor>& parameters, const comm::Group& group) {
  if (group.size() == 1) return;
  std::vector<at::Tensor> trainable;
  for (const auto& parameter : tensors::distinct_tensors(parameters)) {
    if (parameter.requires_grad()) trainable.push_back(parameter.detach());
  }
  for (auto& bucket : torch::utils::take_tensors(trainable, kBucketBytes)) {
    auto flat = at::flatten_dense_tensors(bucket.tensors);
    group.all_reduce(flat, comm::Reduction::Mean);
    auto means = at::unflatten_dense_tensors(flat, bucket.tensors);
    for (size_t i = 0; i < means.size(); ++i) bucket.tensors[i].copy_(means[i]);
  }
}

PeriodicAveraging::PeriodicAveraging(std::vector<at::Tensor> parameters, comm::Group group, int64_t local_sgd_steps,
                                     bool enabled)
    : parameters_(std::move(parameters)),
      group_(std::move(group)),
      local_sgd_steps_(local_sgd_steps),
      enabled_(enabled),
      exceptions_at_entry_(std::uncaught_exceptions()) {
  if (local_sgd_steps < 1) fail("local_sgd_steps is ", local_sgd_steps, "; it must be at least 1");
}

PeriodicAveraging::~PeriodicAveraging() {
  if (!enabled_ || group_.size() == 1 || num_steps_ % local_sgd_steps_ == 0) return;
  if (std::uncaught_exceptions() > exceptions_at_entry_) return;
  get_logger("accelerate.parallel")
      .warning_once(
          "local SGD ended without finish(): the parameters differ between ranks by the steps since the last "
          "average; call finish() after the loop");
}

void PeriodicAveraging::step() {
  if (enabled_ && ++num_steps_ % local_sgd_steps_ == 0) average_parameters(parameters_, group_);
}

void PeriodicAveraging::finish() {
  if (enabled_) average_parameters(parameters_, group_);
  enabled_ = false;
}

}  // namespace accelerate::parallel
