#pragma once

// The order in which a loader takes the samples of a data set. Orders are those of Python's samplers, draw for draw.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "accelerate/data/stream.h"

namespace accelerate::data {

/// An order of samples. Derive from it to choose one of your own.
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// Starts an epoch and gives its indices one by one.
  virtual IndexStream begin() = 0;

  /// How many indices an epoch gives.
  virtual int64_t size() const = 0;

  /// Told by prepared loaders before each epoch.
  virtual void set_epoch(int64_t /*epoch*/) {}

  /// What repeat_epoch() needs to give the order of the last epoch again; undefined where set_epoch() is enough.
  virtual at::Tensor epoch_state() const { return {}; }
  virtual void repeat_epoch(const at::Tensor& /*state*/) {}
  /// Takes back repeat_epoch() where that epoch has not begun: the next one is a new one.
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

/// An order that is drawn from a generator. `prepare` keeps that generator the same on all ranks, and a checkpoint
/// repeats the epoch it was saved in: derive from it for a random order of your own.
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
  /// The generator that begin() draws this epoch from. Call it once, before the first draw.
  at::Generator begin_epoch();

  /// What an epoch draws from if no generator was given: libtorch's global one.
  virtual at::Generator own_generator();

 private:
  at::Generator generator_;
  at::Tensor epoch_state_;  // of the generator, before the last epoch drew from it
  at::Tensor repeated_;     // the state that the next epoch starts from
};

struct RandomSamplerOptions {
  bool replacement = false;                           // draw each index by itself: some come twice and others never
  std::optional<int64_t> num_samples = std::nullopt;  // how many to draw in an epoch, if not as many as there are
  at::Generator generator = {};  // undefined: a new one for each epoch, seeded by libtorch's global generator
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
  std::shared_ptr<const Indices> indices_;  // shared with the epochs that run
};

struct WeightedRandomSamplerOptions {
  bool replacement = true;       // false: no index comes twice in an epoch
  at::Generator generator = {};  // undefined: libtorch's global one
};

/// Draws `num_samples` indices in each epoch, each as often as its weight says. Weights need not add up to one.
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

/// A random order that depends on a seed and the epoch's number alone: every rank and every run can repeat it.
class SeedableRandomSampler : public Sampler {
 public:
  SeedableRandomSampler(int64_t dataset_size, uint64_t seed, RandomSamplerOptions options = {});

  /// Seeds with `seed + epoch`. Reading an epoch to its end moves on to the next one.
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

/// One 64-bit draw from `generator`, or from libtorch's global one if that is undefined.
int64_t draw_seed(const at::Generator& generator = {});

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
