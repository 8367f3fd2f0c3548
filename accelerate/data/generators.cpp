#include "accelerate/data/generators.h"

#include <mutex>
#include <optional>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>

#include "accelerate/base/error.h"

namespace accelerate::data {

namespace {

/// The finaliser of SplitMix64: neighbouring inputs give unrelated outputs.
uint64_t mix_bits(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

void set_global_generator(const at::Tensor& state) {
  auto generator = at::detail::getDefaultCPUGenerator();
  std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace

int64_t draw_seed(const at::Generator& generator) {
  const auto given = generator.defined() ? std::optional(generator) : std::nullopt;
  return at::empty({}, at::kLong).random_(given).item<int64_t>();
}

uint64_t sample_seed(uint64_t base_seed, int64_t epoch, int64_t index) {
  return mix_bits(mix_bits(mix_bits(base_seed) ^ static_cast<uint64_t>(epoch)) ^ static_cast<uint64_t>(index));
}

at::Tensor global_generator_state() {
  auto generator = at::detail::getDefaultCPUGenerator();
  std::lock_guard lock(generator.mutex());  // worker threads may draw
  return generator.get_state();
}

void set_checked_state(at::Generator& generator, const at::Tensor& state, std::string_view name) {
  try {
    generator.set_state(state);
  } catch (const c10::Error& error) {
    fail("'", name, "' is not the state of a generator: ", error.what_without_backtrace());
  }
}

void check_generator_state(const at::Tensor& state, std::string_view name) {
  auto generator = at::detail::createCPUGenerator();
  set_checked_state(generator, state, name);
}

WithGlobalGenerator::WithGlobalGenerator(const at::Tensor& state) {
  if (!state.defined()) return;
  before_ = global_generator_state();
  set_global_generator(state);
}

WithGlobalGenerator::~WithGlobalGenerator() {
  if (before_.defined()) set_global_generator(before_);
}

}  // namespace accelerate::data
