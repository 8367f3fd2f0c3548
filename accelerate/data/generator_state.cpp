#include "accelerate/data/generator_state.h"

#include <mutex>

#include <ATen/CPUGeneratorImpl.h>

#include "accelerate/base/error.h"

namespace accelerate::data {

namespace {

void set_global_generator(const at::Tensor& state) {
  auto generator = at::detail::getDefaultCPUGenerator();
  std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace

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
