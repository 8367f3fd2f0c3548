#include "accelerate/precision/autocast.h"

#include <ATen/autocast_mode.h>

namespace accelerate::precision {

namespace autocast = at::autocast;

Autocast::Autocast(c10::DeviceType device, c10::ScalarType dtype, AutocastKwargs kwargs) : device_(device) {
  enter({kwargs.enabled, dtype, kwargs.cache_enabled});
}

Autocast::Autocast(c10::DeviceType device, MixedPrecision precision, AutocastKwargs kwargs) : device_(device) {
  if (precision == MixedPrecision::No) return;
  enter({kwargs.enabled, precision == MixedPrecision::Fp16 ? at::kHalf : at::kBFloat16, kwargs.cache_enabled});
}

Autocast::~Autocast() {
  if (!previous_) return;
  if (autocast::decrement_nesting() == 0) autocast::clear_cache();
  autocast::set_autocast_enabled(device_, previous_->enabled);
  autocast::set_autocast_dtype(device_, previous_->dtype);
  autocast::set_autocast_cache_enabled(previous_->cache_enabled);
}

void Autocast::enter(const State& state) {
  previous_ = {autocast::is_autocast_enabled(device_), autocast::get_autocast_dtype(device_),
               autocast::is_autocast_cache_enabled()};
  autocast::set_autocast_enabled(device_, state.enabled);
  autocast::set_autocast_dtype(device_, state.dtype);
  autocast::set_autocast_cache_enabled(state.cache_enabled);
  autocast::increment_nesting();
}

}  // namespace accelerate::precision
