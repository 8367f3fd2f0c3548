#pragma once

// A scope in which torch chooses half precision for the operations that gain from it.

#include <optional>

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include "accelerate/precision/mixed_precision.h"

namespace accelerate::precision {

struct AutocastKwargs {
  bool enabled = true;        // false computes in full precision inside an enclosing scope
  bool cache_enabled = true;  // keep the cast copies of parameters until the outermost scope ends
};

/// Autocasting on `device` from construction to destruction, in the current thread; backward follows the forward that
/// it belongs to. Scopes nest, and each one restores exactly what it found. `MixedPrecision::No` changes nothing.
class Autocast {
 public:
  Autocast(c10::DeviceType device, c10::ScalarType dtype, AutocastKwargs kwargs = {});
  Autocast(c10::DeviceType device, MixedPrecision precision, AutocastKwargs kwargs = {});
  ~Autocast();

  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  struct State {
    bool enabled;
    c10::ScalarType dtype;
    bool cache_enabled;
  };

  void enter(const State& state);

  c10::DeviceType device_;
  std::optional<State> previous_;  // empty where nothing was changed
};

}  // namespace accelerate::precision

namespace accelerate {
using precision::Autocast;
using precision::AutocastKwargs;
}  // namespace accelerate
