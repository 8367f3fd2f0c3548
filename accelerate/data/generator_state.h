#pragma once

// States of random generators, first of all of libtorch's global one, which loaders and the training loop both draw
// from.

#include <string_view>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

namespace accelerate::data {

/// That of libtorch's global generator on the CPU.
at::Tensor global_generator_state();

/// Throws Error naming `name` where `state` is not the state of such a generator. libtorch finds that only as it takes
/// the bytes: to find it before, try a copy.
void set_checked_state(at::Generator& generator, const at::Tensor& state, std::string_view name);

/// The same, tried on a generator of the CPU that is made for it.
void check_generator_state(const at::Tensor& state, std::string_view name);

/// The global generator is in `state` while this lives, and then where it was before. Does nothing for an undefined
/// one.
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
