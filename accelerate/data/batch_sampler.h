#pragma once

// How the samples of an epoch are grouped into batches.

#include <memory>

#include "accelerate/data/samplers.h"

namespace accelerate::data {

/// Batches of indices, in order. Derive from it for batches of your own, for instance of samples with like lengths.
class BatchSamplerBase {
 public:
  virtual ~BatchSamplerBase() = default;

  /// Starts an epoch and gives its batches one by one.
  virtual BatchStream begin() = 0;

  /// How many batches an epoch gives.
  virtual int64_t size() const = 0;

  /// The size of all batches but perhaps the last; nothing where sizes vary.
  virtual std::optional<int64_t> batch_size() const { return std::nullopt; }

  /// Whether an incomplete last batch is left out.
  virtual bool drop_last() const { return false; }

  /// How many samples an epoch gives, where that is known.
  virtual std::optional<int64_t> num_samples() const { return std::nullopt; }

  virtual void set_epoch(int64_t /*epoch*/) {}

  /// The sampler underneath, if there is one. `prepare` keeps its generator in step on all ranks, and replaces it where
  /// a seedable sampler is asked for.
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
