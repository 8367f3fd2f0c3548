#include "accelerate/tensors/random_masks.h"

#include <mutex>
#include <utility>

#include <ATen/Context.h>
#include <ATen/Dispatch.h>
#include <ATen/ops/bernoulli_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <torch/library.h>

#include "accelerate/tensors/mersenne_twister.h"

namespace accelerate::tensors {

namespace {

constexpr int kStateWords = static_cast<int>(MersenneTwister::kStateWords);

/// libtorch's `left_` is the number of unused words plus one.
MersenneTwister::State state_of(const at::mt19937_data_pod& data) {
  return {.words = data.state_, .used = data.left_ == 1 ? MersenneTwister::kStateWords : data.next_};
}

void put_back(const MersenneTwister::State& state, at::mt19937_data_pod& data) {
  data.state_ = state.words;
  data.next_ = static_cast<uint32_t>(state.used);
  data.left_ = kStateWords + 1 - static_cast<int>(state.used);
}

bool is_plain(const at::Tensor& mask) {
  return mask.layout() == at::kStrided && mask.is_contiguous() && !mask.is_neg() &&
         (mask.scalar_type() == at::kFloat || mask.scalar_type() == at::kDouble);
}

/// Whether libtorch uses its own kernel here. On some processors it uses MKL, which draws other numbers.
bool libtorch_is_plain() {
  auto theirs = at::make_generator<at::CPUGeneratorImpl>(1), ours = theirs.clone();
  auto expected = at::empty({1000}), mask = at::empty({1000});
  at::native::bernoulli_(expected, 0.9, theirs);
  fill_mask(mask, 0.9, *ours.get<at::CPUGeneratorImpl>());
  return at::equal(mask, expected) && at::equal(ours.get_state(), theirs.get_state());
}

at::Tensor& bernoulli(at::Tensor& mask, double probability, std::optional<at::Generator> generator) {
  static const bool alike = libtorch_is_plain();
  // For an invalid probability too: libtorch reports it.
  if (!alike || !is_plain(mask) || !(probability >= 0 && probability <= 1)) {
    return at::native::bernoulli_(mask, probability, std::move(generator));
  }
  fill_mask(mask, probability,
            *at::get_generator_or_default<at::CPUGeneratorImpl>(generator, at::detail::getDefaultCPUGenerator()));
  return mask;
}

/// Suppresses libtorch's warning that a kernel is overridden, which is intended here.
struct Silence : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

}  // namespace

void fill_mask(const at::Tensor& mask, double probability, at::CPUGeneratorImpl& generator) {
  if (mask.numel() == 0) return;
  std::lock_guard lock(generator.mutex_);
  auto engine = generator.engine();
  auto data = engine.data();
  MersenneTwister numbers(state_of(data));
  const auto count = static_cast<size_t>(mask.numel());
  AT_DISPATCH_FLOATING_TYPES(mask.scalar_type(), "fill_mask",
                             [&] { numbers.draw_mask(mask.mutable_data_ptr<scalar_t>(), count, probability); });
  put_back(numbers.state(), data);
  engine.set_data(data);
  generator.set_engine(engine);
}

void install_mask_kernel() {
  [[maybe_unused]] static const auto* registration = [] {
    Silence silence;
    c10::WarningUtils::WarningHandlerGuard guard(&silence);
    auto* library = new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__);
    library->impl("bernoulli_.float", bernoulli);
    return library;  // never destroyed: threads may outlive static variables
  }();
}

}  // namespace accelerate::tensors
