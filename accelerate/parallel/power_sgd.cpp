#include "accelerate/parallel/power_sgd.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/util/accumulate.h>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/parallel/low_rank.h"

namespace accelerate::parallel {

namespace {

constexpr uint32_t kSeedLimit = 1'000'000'000;

/// NumPy's RandomState.randint(limit): rejection sampling with a bit mask.
uint32_t random_below(std::mt19937& rng, uint32_t limit) {
  uint32_t mask = limit - 1;
  for (int shift : {1, 2, 4, 8, 16}) mask |= mask >> shift;
  while (true) {
    const auto number = static_cast<uint32_t>(rng()) & mask;
    if (number < limit) return number;
  }
}

/// The shape of the factor for a dim of `matrix`: rows (-2) or columns (-1).
std::vector<int64_t> narrow_shape(const at::Tensor& matrix, int64_t dim, const PowerSGDOptions& options) {
  auto shape = matrix.sizes().vec();
  shape[shape.size() - 2] = matrix.size(dim);
  shape.back() = std::min({matrix.size(-2), matrix.size(-1), options.matrix_approximation_rank});
  return shape;
}

int64_t compressed_size(const at::Tensor& matrix, const PowerSGDOptions& options) {
  return c10::multiply_integers(narrow_shape(matrix, -2, options)) +
         c10::multiply_integers(narrow_shape(matrix, -1, options));
}

at::Tensor as_matrix(const at::Tensor& gradient) {
  if (gradient.numel() == 0) return gradient.view({0, 1});
  return gradient.dim() == 0 ? gradient.view({1, 1}) : gradient.view({gradient.size(0), -1});
}

/// Groups matrices by shape, in order of first occurrence.
std::vector<std::vector<at::Tensor>> grouped_by_shape(const std::vector<at::Tensor>& matrices) {
  std::vector<std::vector<at::Tensor>> groups;
  for (const auto& matrix : matrices) {
    auto same = std::ranges::find_if(groups, [&](const auto& group) { return group[0].sizes() == matrix.sizes(); });
    if (same == groups.end()) same = groups.insert(groups.end(), std::vector<at::Tensor>{});
    same->push_back(matrix);
  }
  return groups;
}

void average_uncompressed(const std::vector<at::Tensor>& gradients, const comm::Group& group) {
  if (gradients.empty()) return;
  std::vector<at::Tensor> flat;
  for (const auto& gradient : gradients) flat.push_back(gradient.view(-1));
  auto together = at::cat(flat);
  group.all_reduce(together);
  together.div_(group.size());
  int64_t begin = 0;
  for (auto& gradient : flat) {
    gradient.copy_(together.narrow(0, begin, gradient.numel()));
    begin += gradient.numel();
  }
}

}  // namespace

PowerSGDState::PowerSGDState(const PowerSGDOptions& options) : options_(options), rng_(options.random_seed) {
  if (options.matrix_approximation_rank < 1) {
    fail("matrix_approximation_rank is ", options.matrix_approximation_rank, "; it must be at least 1");
  }
  if ((options.use_error_feedback || options.warm_start) && options.start_powerSGD_iter <= 1) {
    fail("start_powerSGD_iter is ", options.start_powerSGD_iter,
         "; with use_error_feedback or warm_start it must be at least 2, because buckets change after the first step");
  }
  options_.compression_stats_logging_frequency = std::max<int64_t>(1, options.compression_stats_logging_frequency);
}

CompressionStats PowerSGDState::compression_stats() const {
  const double rate = numel_after_ == 0 ? 0 : static_cast<double>(numel_before_) / static_cast<double>(numel_after_);
  return {rate, numel_before_, numel_after_};
}

void PowerSGDState::count(int64_t before, int64_t after) {
  numel_before_ += before;
  numel_after_ += after;
}

void PowerSGDState::report(const GradBucket& bucket) {
  if (!bucket.is_last() || iter_ < next_report_) return;
  const auto stats = compression_stats();
  std::ostringstream line;
  line << "step " << iter_ << ": " << stats.numel_before_compression << " elements of gradients were compressed to "
       << stats.numel_after_compression << ", a rate of " << stats.compress_rate;
  get_logger("accelerate.power_sgd").info(line.str());
  next_report_ = iter_ + options_.compression_stats_logging_frequency;
}

/// Adds the error of the previous step. Returns a copy of the result, from which the error of this step is computed.
at::Tensor PowerSGDState::add_error(const at::Tensor& gradients, Memory& memory) const {
  if (!options_.use_error_feedback) return {};
  if (memory.error.defined()) gradients.add_(memory.error);
  return gradients.clone();
}

void PowerSGDState::randomize(const std::vector<LowRank>& factors) {
  // A separate generator leaves the default one unchanged. All ranks draw the same numbers.
  auto generator = at::detail::createCPUGenerator(random_below(rng_, kSeedLimit));
  for (const auto& [matrix, p, q] : factors) q.copy_(at::randn(q.sizes(), generator, q.options().device(at::kCPU)));
}

std::vector<LowRank> PowerSGDState::factors_of(const std::vector<at::Tensor>& matrices, Memory& memory) {
  const bool begin = !options_.warm_start || !memory.p.defined();
  std::vector<LowRank> factors;
  auto cut = [&](at::Tensor& all, int64_t dim) {
    int64_t size = 0;
    std::vector<at::Tensor> views;
    for (const auto& matrix : matrices) size += c10::multiply_integers(narrow_shape(matrix, dim, options_));
    if (begin) all = at::empty({size}, matrices.at(0).options());
    int64_t end = 0;
    for (const auto& matrix : matrices) {
      const auto shape = narrow_shape(matrix, dim, options_);
      const auto length = c10::multiply_integers(shape);
      views.push_back(all.narrow(0, end, length).view(shape));
      end += length;
    }
    return views;
  };
  if (matrices.empty()) return factors;
  const auto ps = cut(memory.p, -2), qs = cut(memory.q, -1);
  for (size_t i = 0; i < matrices.size(); ++i) factors.push_back({matrices[i], ps[i], qs[i]});
  if (begin) randomize(factors);
  return factors;
}

at::Tensor PowerSGDState::reduce(GradBucket& bucket, const comm::Group& group, bool as_one_matrix) {
  if (bucket.buffer().is_sparse()) {
    fail("PowerSGD: the gradient of a parameter of shape ", bucket.parameters().at(0).sizes(),
         " is sparse and cannot be compressed; make the embedding dense, or use another comm_hook");
  }
  auto reduced = iter_ < options_.start_powerSGD_iter ? allreduce_hook(bucket, group)
                 : as_one_matrix                      ? reduce_as_one(bucket, group)
                                                      : reduce_each(bucket, group);
  if (bucket.is_last()) ++iter_;
  return reduced;
}

at::Tensor PowerSGDState::reduce_each(GradBucket& bucket, const comm::Group& group) {
  auto gradients = bucket.buffer();
  auto& memory = memories_[bucket.index()];
  const auto wanted = add_error(gradients, memory);

  std::vector<at::Tensor> uncompressed, compressed;
  for (const auto& gradient : bucket.gradients()) {
    const auto matrix = as_matrix(gradient);
    const auto before = gradient.numel(), after = compressed_size(matrix, options_);
    const bool pays = static_cast<double>(after) * options_.min_compression_rate < static_cast<double>(before);
    (pays ? compressed : uncompressed).push_back(matrix);
    count(before, pays ? after : before);
  }
  report(bucket);

  std::vector<std::vector<at::Tensor>> batches;
  for (const auto& same : grouped_by_shape(compressed)) {
    if (options_.batch_tensors_with_same_shape) {
      batches.push_back(same);
    } else {
      for (const auto& matrix : same) batches.push_back({matrix});
    }
  }
  std::vector<at::Tensor> matrices;  // [batch, rows, columns]; a batch of one is changed in place
  for (const auto& batch : batches) matrices.push_back(batch.size() > 1 ? at::stack(batch) : batch[0].unsqueeze(0));
  average_uncompressed(uncompressed, group);
  average_(factors_of(matrices, memory), memory.p, memory.q, group, options_.orthogonalization_epsilon);
  for (size_t i = 0; i < batches.size(); ++i) {
    if (batches[i].size() == 1) continue;
    for (size_t j = 0; j < batches[i].size(); ++j) batches[i][j].copy_(matrices[i][static_cast<int64_t>(j)]);
  }
  if (wanted.defined()) memory.error = wanted - gradients;
  return gradients;
}

at::Tensor PowerSGDState::reduce_as_one(GradBucket& bucket, const comm::Group& group) {
  const auto gradients = bucket.buffer();
  auto& memory = memories_[bucket.index()];
  const auto length = gradients.numel();
  const auto side = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(length))));
  auto padded = at::zeros({side * side}, gradients.options());
  padded.narrow(0, 0, length).copy_(gradients);
  const auto wanted = add_error(padded, memory);
  const auto matrix = padded.view({side, side});
  count(length, compressed_size(matrix, options_));
  report(bucket);
  average_(factors_of({matrix}, memory), memory.p, memory.q, group, options_.orthogonalization_epsilon);
  if (wanted.defined()) memory.error = wanted - padded;
  return padded.narrow(0, 0, length);
}

CommHookFunction powerSGD_hook(std::shared_ptr<PowerSGDState> state) {
  return [state = std::move(state)](GradBucket& bucket, const comm::Group& group) {
    return state->reduce(bucket, group, /*as_one_matrix=*/false);
  };
}

CommHookFunction batched_powerSGD_hook(std::shared_ptr<PowerSGDState> state) {
  return [state = std::move(state)](GradBucket& bucket, const comm::Group& group) {
    return state->reduce(bucket, group, /*as_one_matrix=*/true);
  };
}

}  // namespace accelerate::parallel
