#include "accelerate/parallel/gradient_reducer.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"

namespace accelerate::parallel {

namespace {

constexpr int64_t kMebibyte = 1024 * 1024;

int64_t cap_bytes(const DistributedDataParallelKwargs& kwargs) {
  if (kwargs.bucket_cap_mb <= 0) fail("bucket_cap_mb is ", kwargs.bucket_cap_mb, "; it must be greater than 0");
  return std::max<int64_t>(1, static_cast<int64_t>(kwargs.bucket_cap_mb * kMebibyte));
}

// A small first bucket starts the first reduction early.
int64_t first_cap_bytes(const DistributedDataParallelKwargs& kwargs) { return std::min(kMebibyte, cap_bytes(kwargs)); }

std::vector<at::Tensor> tensors_of(const std::vector<NamedTensor>& parameters) {
  std::vector<at::Tensor> tensors;
  for (const auto& parameter : parameters) tensors.push_back(parameter.tensor);
  return tensors;
}

std::vector<bool> sparse_of(const std::vector<NamedTensor>& parameters) {
  std::vector<bool> sparse;
  for (const auto& parameter : parameters) sparse.push_back(parameter.sparse_gradient);
  return sparse;
}

std::unordered_map<size_t, std::string> names_of(const std::vector<NamedTensor>& parameters) {
  std::unordered_map<size_t, std::string> names;
  for (const auto& parameter : parameters) names.emplace(names.size(), parameter.name);
  return names;
}

std::vector<std::vector<size_t>> assign_buckets(const std::vector<NamedTensor>& parameters,
                                                const DistributedDataParallelKwargs& kwargs) {
  // Last layer first: its gradient is ready first, so its reduction overlaps the rest of backward.
  auto backwards = tensors_of({parameters.rbegin(), parameters.rend()});
  std::vector<int64_t> indices(parameters.size());
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int64_t>(indices.size() - 1 - i);
  std::vector<size_t> limits{static_cast<size_t>(first_cap_bytes(kwargs)), static_cast<size_t>(cap_bytes(kwargs))};
  // compute_bucket_assignment_by_size looks up sparsity by these indices, so it is in parameter order.
  return std::get<0>(c10d::compute_bucket_assignment_by_size(backwards, limits, sparse_of(parameters), indices));
}

}  // namespace

GradientReducer::GradientReducer(const std::vector<NamedTensor>& parameters,
                                 const c10::intrusive_ptr<c10d::ProcessGroup>& process_group,
                                 const DistributedDataParallelKwargs& kwargs)
    : Reducer(tensors_of(parameters), assign_buckets(parameters, kwargs), process_group, sparse_of(parameters),
              cap_bytes(kwargs), kwargs.find_unused_parameters, kwargs.gradient_as_bucket_view.value(),
              names_of(parameters), first_cap_bytes(kwargs),
              /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false, /*bucket_bytes_cap_list=*/{}),
      kwargs_(kwargs) {
  make_views_plain();
}

void GradientReducer::use_hook(std::unique_ptr<c10d::CommHookInterface> hook) {
  register_comm_hook(std::move(hook));
  has_hook_ = true;
}

void GradientReducer::rebuild_buckets() {
  Reducer::rebuild_buckets();
  make_views_plain();
}

/// torch's optimizers detach gradients in place in zero_grad, which a view of a bucket does not allow. Replaces views
/// by tensors on the same storage.
void GradientReducer::make_views_plain() {
  if (!*kwargs_.gradient_as_bucket_view) return;
  for (auto& bucket : buckets_) {
    if (bucket.expect_sparse_gradient) continue;
    for (size_t i = 0; i < bucket.variables.size(); ++i) {
      auto& view = bucket.bucket_views_in[i];
      bool in_place = bucket.bucket_views_out[i].is_alias_of(view);
      auto plain = at::empty({0}, view.options());
      plain.set_(view.storage(), view.storage_offset(), view.sizes(), view.strides());
      auto& gradient = bucket.variables[i].mutable_grad();
      if (gradient.defined() && gradient.is_alias_of(view)) gradient = plain;
      if (in_place) bucket.bucket_views_out[i] = plain;
      view = plain;
    }
  }
}

void GradientReducer::disarm() {
  std::lock_guard lock(mutex_);
  expect_autograd_hooks_ = false;
}

bool GradientReducer::is_unfinished() const {
  std::lock_guard lock(mutex_);
  return require_finalize_;
}

void GradientReducer::abandon() {
  for (size_t i = 0; i < next_bucket_; ++i) {
    if (buckets_[i].future_work) buckets_[i].future_work->wait();
  }
  reset_state();
}

void GradientReducer::fill(Bucket& bucket) {
  for (size_t i = 0; i < bucket.variables.size(); ++i) {
    const auto& gradient = bucket.variables[i].grad();
    auto& view = bucket.bucket_views_in[i];
    if (!gradient.defined()) {
      view.zero_();
    } else if (!gradient.is_alias_of(view)) {
      view.copy_(gradient);
    }
  }
  // A communication hook divides itself.
  if (!has_hook_) bucket.gradients.mul_(1.0 / process_group_->getSize());
}

/// A bucket with the sparse gradient of one parameter; empty if this rank has no gradient or does not contribute.
void GradientReducer::fill_sparse(Bucket& bucket, bool contribute) {
  const auto& parameter = bucket.variables[0];
  const auto& gradient = parameter.grad();
  if (contribute && gradient.defined()) {
    bucket.gradients = has_hook_ ? gradient.clone() : gradient.div(process_group_->getSize());
  } else {
    auto rows = parameter.detach().narrow(0, 0, 0);
    auto places = at::empty({1, 0}, parameter.options().dtype(at::kLong));
    bucket.gradients =
        at::_sparse_coo_tensor_unsafe(places, rows, parameter.sizes(), rows.options().layout(at::kSparse));
  }
}

void GradientReducer::scatter_to_gradients(Bucket& bucket, const at::Tensor& reduced, const at::Tensor& used) {
  if (bucket.expect_sparse_gradient) {
    bucket.variables[0].mutable_grad() = reduced;
    return;
  }
  if (!reduced.is_alias_of(bucket.gradients)) bucket.gradients.copy_(reduced);
  for (size_t i = 0; i < bucket.variables.size(); ++i) {
    if (used.defined() && used[static_cast<int64_t>(bucket.variable_indices[i])].item<int>() == 0) continue;
    auto& gradient = bucket.variables[i].mutable_grad();
    const auto& view = bucket.bucket_views_in[i];
    if (!gradient.defined()) {
      gradient = *kwargs_.gradient_as_bucket_view ? view : view.clone();
    } else if (!gradient.is_alias_of(view)) {
      gradient.copy_(view);
    }
  }
}

/// Ones for the parameters with a gradient on any rank; undefined if all must have one.
at::Tensor GradientReducer::used_anywhere(bool contribute) {
  if (!kwargs_.find_unused_parameters && !kwargs_.static_graph) return {};
  auto used = at::zeros({static_cast<int64_t>(params_.size())}, at::kInt);
  for (size_t i = 0; contribute && i < params_.size(); ++i) {
    if (params_[i].grad().defined()) used[static_cast<int64_t>(i)] = 1;
  }
  std::vector<at::Tensor> everywhere{used.to(params_[0].device())};
  process_group_->allreduce(everywhere)->wait();
  return everywhere[0].cpu();
}

void GradientReducer::reduce_now(bool contribute) {
  at::NoGradGuard no_grad;
  auto used = used_anywhere(contribute);
  for (auto& bucket : buckets_) {
    if (bucket.expect_sparse_gradient) {
      fill_sparse(bucket, contribute);
    } else if (contribute) {
      fill(bucket);
    }
  }
  auto buckets = get_grad_buckets(/*return_zero_tensors=*/!contribute);
  std::vector<c10::intrusive_ptr<c10::ivalue::Future>> reductions;
  for (size_t i = 0; i < buckets.size(); ++i) {
    reductions.push_back(run_comm_hook(buckets[i]));
  }
  for (size_t i = 0; i < buckets.size(); ++i) {
    reductions[i]->waitAndThrow();
    auto reduced = c10d::detail::parseCppCommHookResult(reductions[i]->value());
    if (contribute) scatter_to_gradients(buckets_[i], reduced, used);
  }
  // The Reducer's hooks record used parameters between reductions, so reset the record. With a static graph it is
  // permanent.
  if (kwargs_.find_unused_parameters && !kwargs_.static_graph) local_used_map_.zero_();
}

std::vector<size_t> GradientReducer::bucket_bytes() const {
  std::vector<size_t> sizes;
  for (const auto& bucket : buckets_) {
    if (!bucket.expect_sparse_gradient) sizes.push_back(bucket.gradients.nbytes());
  }
  return sizes;
}

std::vector<GradientBucket> GradientReducer::dense_buckets() const {
  std::vector<GradientBucket> dense;
  for (const auto& bucket : buckets_) {
    if (!bucket.expect_sparse_gradient) dense.push_back({bucket.gradients, bucket.variables, bucket.bucket_views_in});
  }
  return dense;
}

}  // namespace accelerate::parallel
