#include "accelerate/parallel/reducer_hook.h"

#include <sstream>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/comm/connection.h"
#include "accelerate/parallel/power_sgd.h"

namespace accelerate::parallel {

namespace {

/// Sends gradients in half precision. Asynchronous: backward continues.
class HalfHook : public c10d::CppCommHookInterface<c10::intrusive_ptr<c10d::ProcessGroup>> {
 public:
  HalfHook(at::ScalarType type, c10::intrusive_ptr<c10d::ProcessGroup> process_group)
      : CppCommHookInterface(std::move(process_group)), type_(type) {}

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    auto gradients = bucket.getBuffer();
    std::vector<at::Tensor> small{gradients.to(type_).div_(state_->getSize())};
    auto widen = [gradients, small](c10::ivalue::Future&) { return c10::IValue(gradients.copy_(small[0])); };
    return state_->allreduce(small)->getFuture()->then(widen, c10::TensorType::get());
  }

 private:
  at::ScalarType type_;
};

void check_reduced(const at::Tensor& gradients, const at::Tensor& reduced) {
  if (!reduced.defined()) fail("the comm hook returned an undefined tensor; it must return the averaged gradients");
  const bool fits = reduced.sizes() == gradients.sizes() && reduced.is_sparse() == gradients.is_sparse() &&
                    reduced.is_floating_point() && reduced.device() == gradients.device();
  if (fits) return;
  auto described = [](const at::Tensor& tensor) {
    std::ostringstream text;
    text << (tensor.is_sparse() ? "a sparse " : "a dense ") << tensor.scalar_type() << " tensor of shape "
         << tensor.sizes() << " on " << tensor.device();
    return text.str();
  };
  fail("the comm hook returned ", described(reduced), "; it must return the averaged gradients in the form of ",
       "bucket.buffer(), ", described(gradients), ", in any floating-point type");
}

/// Calls a function synchronously: it returns when the bucket is reduced.
class FunctionHook : public c10d::CppCommHookInterface<CommHookFunction> {
 public:
  FunctionHook(CommHookFunction function, comm::Group group)
      : CppCommHookInterface(std::move(function)), group_(std::move(group)) {}

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    at::NoGradGuard no_grad;
    const auto gradients = bucket.getBuffer();
    GradBucket view(bucket);
    auto reduced = state_(view, group_);
    check_reduced(gradients, reduced);
    // The Reducer reads gradients from the start of the storage.
    if (!reduced.is_sparse() && (reduced.storage_offset() != 0 || !reduced.is_contiguous())) {
      reduced = reduced.clone(at::MemoryFormat::Contiguous);
    }
    auto done = c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get());
    done->markCompleted(reduced);
    return done;
  }

 private:
  comm::Group group_;
};

CommHookFunction named_hook(const DistributedDataParallelKwargs& kwargs) {
  switch (kwargs.comm_hook) {
    case CommHook::Fp16:
      return fp16_compress_hook;
    case CommHook::Bf16:
      return bf16_compress_hook;
    case CommHook::PowerSGD:
      return powerSGD_hook(std::make_shared<PowerSGDState>(kwargs.comm_state_option));
    case CommHook::BatchedPowerSGD:
      return batched_powerSGD_hook(std::make_shared<PowerSGDState>(kwargs.comm_state_option));
    case CommHook::No:
      break;
  }
  return {};
}

}  // namespace

std::unique_ptr<c10d::CommHookInterface> reducer_hook(const DistributedDataParallelKwargs& kwargs,
                                                      const comm::Group& group) {
  const auto hook = kwargs.comm_hook, wrapper = kwargs.comm_wrapper;
  if (hook == CommHook::No) return nullptr;
  if (wrapper == CommHook::No && (hook == CommHook::Fp16 || hook == CommHook::Bf16)) {
    const auto type = hook == CommHook::Fp16 ? at::kHalf : at::kBFloat16;
    return std::make_unique<HalfHook>(type, group.connection()->process_group());
  }
  auto function = named_hook(kwargs);
  if (wrapper == CommHook::Fp16) function = fp16_compress_wrapper(std::move(function));
  if (wrapper == CommHook::Bf16) function = bf16_compress_wrapper(std::move(function));
  return reducer_hook(std::move(function), group);
}

std::unique_ptr<c10d::CommHookInterface> reducer_hook(CommHookFunction function, const comm::Group& group) {
  return std::make_unique<FunctionHook>(std::move(function), group);
}

}  // namespace accelerate::parallel
