#pragma once

// PowerSGD: sends the low-rank factors of gradient matrices instead of the matrices. Vogels, Karimireddy, Jaggi,
// "PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization" (2019). Computes the same numbers as
// torch's powerSGD_hook.

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/parallel/comm_hook.h"

namespace accelerate::parallel {

struct LowRank;

/// Python's comm_state_option.
struct PowerSGDOptions {
  int64_t matrix_approximation_rank = 1;  // columns of the factors: more are more exact and more traffic
  int64_t start_powerSGD_iter = 1000;     // number of first steps without compression
  double min_compression_rate = 2;        // gradients with a lower compression rate are sent uncompressed
  bool use_error_feedback = true;         // add the compression error to the next gradient; needs memory of their size
  bool warm_start = true;                 // start from the factors of the previous step
  double orthogonalization_epsilon = 0;   // added to the norms of columns; 1e-8 if gradients may be all zeros
  uint32_t random_seed = 0;               // of the initial factors
  int64_t compression_stats_logging_frequency = 10'000;  // steps between log messages of level info
  bool batch_tensors_with_same_shape = false;            // compress matrices of the same shape in one call
};

/// The compression rate and the numbers of elements behind it.
struct CompressionStats {
  double compress_rate = 0;
  int64_t numel_before_compression = 0;
  int64_t numel_after_compression = 0;
};

/// The state of PowerSGD for one model. It is not part of checkpoints: after a restart the first start_powerSGD_iter
/// steps are uncompressed again, as in Python.
class PowerSGDState {
 public:
  /// Throws Error if compression would start before buckets are rebuilt: with error feedback or warm start,
  /// start_powerSGD_iter must be at least 2.
  explicit PowerSGDState(const PowerSGDOptions& options = {});

  const PowerSGDOptions& options() const { return options_; }

  /// The number of steps so far.
  int64_t iter() const { return iter_; }

  /// Of all steps with compression, including gradients that were sent uncompressed in them.
  CompressionStats compression_stats() const;

 private:
  friend CommHookFunction powerSGD_hook(std::shared_ptr<PowerSGDState> state);
  friend CommHookFunction batched_powerSGD_hook(std::shared_ptr<PowerSGDState> state);

  /// The state of one bucket.
  struct Memory {
    at::Tensor error;  // of the last step, on this rank
    at::Tensor p, q;   // all factors, flat
  };

  at::Tensor reduce(GradBucket& bucket, const comm::Group& group, bool as_one_matrix);
  at::Tensor reduce_each(GradBucket& bucket, const comm::Group& group);
  at::Tensor reduce_as_one(GradBucket& bucket, const comm::Group& group);
  at::Tensor add_error(const at::Tensor& gradients, Memory& memory) const;
  std::vector<LowRank> factors_of(const std::vector<at::Tensor>& matrices, Memory& memory);
  void randomize(const std::vector<LowRank>& factors);
  void count(int64_t before, int64_t after);
  void report(const GradBucket& bucket);

  PowerSGDOptions options_;
  std::mt19937 rng_;                   // NumPy's RandomState
  std::map<size_t, Memory> memories_;  // by bucket
  int64_t iter_ = 0;
  int64_t numel_before_ = 0, numel_after_ = 0;
  int64_t next_report_ = 0;
};

/// Compresses each matrix of a bucket by itself. A state belongs to one model. Throws Error for sparse gradients.
CommHookFunction powerSGD_hook(std::shared_ptr<PowerSGDState> state);

/// Compresses a bucket as one square matrix: faster, and less exact.
CommHookFunction batched_powerSGD_hook(std::shared_ptr<PowerSGDState> state);

}  // namespace accelerate::parallel

namespace accelerate {
using parallel::batched_powerSGD_hook;
using parallel::powerSGD_hook;
using parallel::PowerSGDOptions;
using parallel::PowerSGDState;
}  // namespace accelerate
