#pragma once

// Batch samplers: they group the samples of an epoch into batches.

#include <memory>

#include "accelerate/data/samplers.h"

namespace accelerate::data {

/// Batches of indices, in order. Derive from it for batches of your own, for instance of samples of similar length.
class BatchSamplerBase {
 public:
  virtual ~BatchSamplerBase() = default;

  /// Starts an epoch and returns its batches one by one.
  virtual BatchStream begin() = 0;

  /// The number of batches in an epoch.
  virtual int64_t size() const = 0;

  /// The size of all batches except perhaps the last; nothing if sizes vary.
  virtual std::optional<int64_t> batch_size() const { return std::nullopt; }

  /// Whether an incomplete last batch is left out.
  virtual bool drop_last() const { return false; }

  /// The number of samples in an epoch, if known.
  virtual std::optional<int64_t> num_samples() const { return std::nullopt; }

  virtual void set_epoch(int64_t /*epoch*/) {}

  /// The underlying sampler, or null. `prepare` keeps its generator in the same state on all ranks, and replaces the
  /// sampler if a seedable one is requested.
  virtual std::shared_ptr<Sampler> sampler() const { return nullptr; }
  virtual void set_sampler(std::shared_ptr<Sampler> /*sampler*/) {}
};

/// Consecutive indices of a sampler, `batch_size` at a time.
class BatchSampler : public BatchSamplerBase {
 public:
  BatchSampler(std::shared_ptr<Sampler> sampler, int64_t batch_size, bool drop_last = false);

  BatchStream begin() override;
  int64_t size() const override;
  std::optional<int64_t> batch_size() const override { return batch_size_; }
  bool drop_last() const override { return drop_last_; }
  std::optional<int64_t> num_samples() const override { return sampler_->size(); }
  void set_epoch(int64_t epoch) override { sampler_->set_epoch(epoch); }
  std::shared_ptr<Sampler> sampler() const override { return sampler_; }
  void set_sampler(std::shared_ptr<Sampler> sampler) override { sampler_ = std::move(sampler); }

 private:
  std::shared_ptr<Sampler> sampler_;
  int64_t batch_size_;
  bool drop_last_;
};

}  // namespace accelerate::data

namespace accelerate {
using data::BatchSampler;
using data::BatchSamplerBase;
}  // namespace accelerate
