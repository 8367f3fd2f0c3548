#pragma once

// Samplers: the order in which a loader reads the samples of a data set. They make the same draws as Python's samplers.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "accelerate/data/stream.h"

namespace accelerate::data {

/// An order of samples. Derive from it for an order of your own.
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// Starts an epoch and returns its indices one by one.
  virtual IndexStream begin() = 0;

  /// The number of indices in an epoch.
  virtual int64_t size() const = 0;

  /// Called by prepared loaders before each epoch.
  virtual void set_epoch(int64_t /*epoch*/) {}

  /// The state from which repeat_epoch() repeats the order of the last epoch; undefined if set_epoch() is enough.
  virtual at::Tensor epoch_state() const { return {}; }
  virtual void repeat_epoch(const at::Tensor& /*state*/) {}
  /// Cancels a repeat_epoch() whose epoch has not begun: the next epoch gets a new order.
  virtual void forget_repeat() {}
};

/// 0, 1, 2, ...
class SequentialSampler : public Sampler {
 public:
  explicit SequentialSampler(int64_t num_samples) : num_samples_(num_samples) {}

  IndexStream begin() override;
  int64_t size() const override { return num_samples_; }

 private:
  int64_t num_samples_;
};

/// An order that is drawn from a generator. `prepare` keeps the generator in the same state on all ranks, and a resumed
/// run repeats the order of the interrupted epoch. Derive from it for a random order of your own.
class GeneratorSampler : public Sampler {
 public:
  explicit GeneratorSampler(at::Generator generator) : generator_(std::move(generator)) {}

  at::Tensor epoch_state() const override { return epoch_state_; }
  void repeat_epoch(const at::Tensor& state) override;
  void forget_repeat() override { repeated_.reset(); }

  /// The generator that all epochs draw from; undefined if none was given.
  const at::Generator& generator() const { return generator_; }
  void set_generator(at::Generator generator) { generator_ = std::move(generator); }

 protected:
  /// Returns the generator to draw this epoch from. Call it once in begin(), before the first draw.
  at::Generator begin_epoch();

  /// The generator for an epoch if none was given: libtorch's global one.
  virtual at::Generator own_generator();

 private:
  at::Generator generator_;
  at::Tensor epoch_state_;  // of the generator, before the last epoch drew from it
  at::Tensor repeated_;     // the state that the next epoch starts from
};

struct RandomSamplerOptions {
  bool replacement = false;                           // draw with replacement: an index may repeat
  std::optional<int64_t> num_samples = std::nullopt;  // draws in an epoch; default: the size of the data set
  at::Generator generator = {};  // undefined: a new one per epoch, seeded from libtorch's global one
};

/// A new random order in each epoch.
class RandomSampler : public GeneratorSampler {
 public:
  explicit RandomSampler(int64_t dataset_size, RandomSamplerOptions options = {});

  IndexStream begin() override;
  int64_t size() const override { return num_samples_; }

  int64_t dataset_size() const { return dataset_size_; }
  bool replacement() const { return replacement_; }

 protected:
  at::Generator own_generator() override;

 private:
  int64_t dataset_size_;
  bool replacement_;
  int64_t num_samples_;
};

/// The given indices in a new random order in each epoch.
class SubsetRandomSampler : public GeneratorSampler {
 public:
  explicit SubsetRandomSampler(Indices indices, at::Generator generator = {});

  IndexStream begin() override;
  int64_t size() const override { return static_cast<int64_t>(indices_->size()); }

 private:
  std::shared_ptr<const Indices> indices_;  // shared with running epochs
};

struct WeightedRandomSamplerOptions {
  bool replacement = true;       // false: no index repeats in an epoch
  at::Generator generator = {};  // undefined: libtorch's global one
};

/// Draws `num_samples` indices in each epoch, with probabilities proportional to the weights.
class WeightedRandomSampler : public GeneratorSampler {
 public:
  WeightedRandomSampler(const std::vector<double>& weights, int64_t num_samples,
                        WeightedRandomSamplerOptions options = {});
  WeightedRandomSampler(const at::Tensor& weights, int64_t num_samples, WeightedRandomSamplerOptions options = {});

  IndexStream begin() override;
  int64_t size() const override { return num_samples_; }

 private:
  at::Tensor weights_;
  int64_t num_samples_;
  bool replacement_;
};

/// A random order that depends only on a seed and the epoch number, so every rank and every run can reproduce it.
class SeedableRandomSampler : public Sampler {
 public:
  SeedableRandomSampler(int64_t dataset_size, uint64_t seed, RandomSamplerOptions options = {});

  /// Seeds with `seed + epoch`. Reading an epoch to its end increments the epoch number.
  IndexStream begin() override;
  int64_t size() const override { return order_.size(); }
  void set_epoch(int64_t epoch) override { *epoch_ = epoch; }

  uint64_t seed() const { return seed_; }
  void set_seed(uint64_t seed) { seed_ = seed; }

 private:
  RandomSampler order_;
  uint64_t seed_;
  std::shared_ptr<int64_t> epoch_;
};

}  // namespace accelerate::data

namespace accelerate {
using data::GeneratorSampler;
using data::RandomSampler;
using data::Sampler;
using data::SeedableRandomSampler;
using data::SequentialSampler;
using data::SubsetRandomSampler;
using data::WeightedRandomSampler;
}  // namespace accelerate

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
