#pragma once

// Which parameters get a gradient in a backward, by a hook behind each of them. Private to this room.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <torch/csrc/autograd/function.h>

#include "accelerate/parallel/named_tensor.h"

namespace accelerate::parallel {

class GradientHooks {
 public:
  /// Called in backward. The hooks run before those added later.
  struct Listener {
    std::function<void(const NamedTensor& parameter)> on_unheard;  // a gradient has come, not waited for; may start()
    std::function<void()> on_first;                                // the first gradient that is waited for has come
    std::function<void(const NamedTensor& parameter)> on_any;      // a gradient has come, waited for or not
  };
  GradientHooks(std::vector<NamedTensor> parameters, Listener listener);
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;
  ~GradientHooks();

  /// Notes arrivals from now on, beginning with none.
  void start();
  void stop() { listening_ = false; }
  bool listening() const { return listening_; }

  size_t count() const { return count_; }

  /// Whether a gradient came while nobody listened, since clear_local_gradients().
  bool has_local_gradients() const { return any_unheard_; }
  void clear_local_gradients() { any_unheard_ = false; }

  std::vector<std::string> missing() const;

 private:
  class Hook;
  void note(size_t index);

  std::vector<NamedTensor> parameters_;
  Listener listener_;
  std::vector<std::pair<c10::intrusive_ptr<torch::autograd::Node>, uintptr_t>> hooks_;
  std::vector<bool> arrived_;
  size_t count_ = 0;
  bool listening_ = false;
  bool any_unheard_ = false;
};

}  // namespace accelerate::parallel
