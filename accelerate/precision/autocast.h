#pragma once

// Autocast as a scope: torch runs suitable operations in half precision.

#include <optional>

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include "accelerate/precision/mixed_precision.h"

namespace accelerate::precision {

struct AutocastKwargs {
  bool enabled = true;        // false: full precision inside an enclosing scope
  bool cache_enabled = true;  // keep the cast copies of parameters until the outermost scope ends
};

/// Enables autocast on `device` in the current thread while it lives. Backward uses the types that forward chose.
/// Scopes nest; each restores the previous settings. `MixedPrecision::No` changes nothing.
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
  std::optional<State> previous_;  // empty if nothing was changed
};

}  // namespace accelerate::precision

namespace accelerate {
using precision::Autocast;
using precision::AutocastKwargs;
}  // namespace accelerate
