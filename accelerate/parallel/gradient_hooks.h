#pragma once

// Tracks which parameters get a gradient in a backward, with a post-accumulate hook on each. Private to this room.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <torch/csrc/autograd/function.h>

#include "accelerate/parallel/named_tensor.h"

namespace accelerate::parallel {

class GradientHooks {
 public:
  /// Called in backward. These hooks run before hooks that are added later.
  struct Listener {
    std::function<void(const NamedTensor& parameter)> on_unarmed;  // while not listening; may call start()
    std::function<void()> on_first;                                // the first gradient while listening
    std::function<void(const NamedTensor& parameter)> on_any;      // every gradient, listening or not
  };
  GradientHooks(std::vector<NamedTensor> parameters, Listener listener);
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;
  ~GradientHooks();

  /// Starts to record which parameters got a gradient, with an empty record.
  void start();
  void stop() { listening_ = false; }
  bool listening() const { return listening_; }

  size_t count() const { return count_; }

  /// Whether a gradient was computed while not listening, since clear_local_gradients().
  bool has_local_gradients() const { return has_local_gradients_; }
  void clear_local_gradients() { has_local_gradients_ = false; }

  /// The parameters without a gradient since start().
  std::vector<std::string> missing() const;

  /// Whether no other GradientHooks were made later for `parameter`. If a module was prepared several times, only its
  /// newest replicas average an unarmed backward.
  bool are_newest_of(const at::Tensor& parameter) const;

 private:
  class Hook;
  void note(size_t index);

  std::vector<NamedTensor> parameters_;
  Listener listener_;
  std::vector<std::pair<c10::intrusive_ptr<torch::autograd::Node>, uintptr_t>> hooks_;
  std::vector<bool> arrived_;
  size_t count_ = 0;
  bool listening_ = false;
  bool has_local_gradients_ = false;
};

}  // namespace accelerate::parallel
