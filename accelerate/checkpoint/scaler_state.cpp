#include "accelerate/checkpoint/scaler_state.h"

namespace accelerate::checkpoint {

tensors::TorchValue scaler_state_dict(const precision::GradScaler& scaler) {
  if (!scaler.is_enabled()) return tensors::TorchValue::dict();
  const auto state = scaler.state();
  return tensors::TorchValue::dict({{"scale", state.scale},
                                    {"growth_factor", state.growth_factor},
                                    {"backoff_factor", state.backoff_factor},
                                    {"growth_interval", state.growth_interval},
                                    {"_growth_tracker", state.growth_tracker}});
}

precision::GradScalerState read_scaler_state(const tensors::TorchValue& state) {
  return {.scale = state.at("scale").number(),
          .growth_factor = state.at("growth_factor").number(),
          .backoff_factor = state.at("backoff_factor").number(),
          .growth_interval = state.at("growth_interval").integer(),
          .growth_tracker = state.at("_growth_tracker").integer()};
}

}  // namespace accelerate::checkpoint
