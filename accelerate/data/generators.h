#pragma once

// Seeds and states of random generators, above all of libtorch's global CPU generator.

#include <cstdint>
#include <string_view>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

namespace accelerate::data {

/// Draws a 64-bit seed from `generator`, or from libtorch's global one if it is undefined.
int64_t draw_seed(const at::Generator& generator = {});

/// Returns the seed for a sample's own generator. It depends only on its arguments, so augmentations are the same for
/// any number of workers and ranks, and after resuming. Do not draw from libtorch's global generator inside `get`:
/// worker threads share it with the training loop, so both would become irreproducible.
uint64_t sample_seed(uint64_t base_seed, int64_t epoch, int64_t index);

/// Returns the state of libtorch's global CPU generator.
at::Tensor global_generator_state();

/// Sets the state. Throws Error naming `name` if `state` is not valid for this generator. libtorch checks a state only
/// while setting it; to check it first, set it on a copy.
void set_checked_state(at::Generator& generator, const at::Tensor& state, std::string_view name);

/// The same on a temporary CPU generator: checks the state only.
void check_generator_state(const at::Tensor& state, std::string_view name);

/// Sets the global CPU generator to `state` and restores its previous state on destruction. Does nothing if `state` is
/// undefined.
class WithGlobalGenerator {
 public:
  explicit WithGlobalGenerator(const at::Tensor& state);
  ~WithGlobalGenerator();
  WithGlobalGenerator(const WithGlobalGenerator&) = delete;
  WithGlobalGenerator& operator=(const WithGlobalGenerator&) = delete;

 private:
  at::Tensor before_;
};

}  // namespace accelerate::data

namespace accelerate {
using data::sample_seed;
}
