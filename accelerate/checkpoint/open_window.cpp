#include "accelerate/checkpoint/open_window.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/tensors/distinct_tensors.h"

namespace accelerate::checkpoint {
namespace {

using tensors::TorchValue;
using ItemState = train::ItemWindow::State;

/// Files hold dense tensors only, so a sparse gradient is saved as its components.
TorchValue value_of_gradient(const at::Tensor& gradient) {
  if (!gradient.is_sparse()) return gradient.detach();
  return TorchValue::dict({{"indices", gradient.detach()._indices()},
                           {"values", gradient.detach()._values()},
                           {"is_coalesced", gradient.is_coalesced()}});
}

/// The inverse, for a parameter of `sizes`.
at::Tensor gradient_of(const TorchValue& value, at::IntArrayRef sizes) {
  if (value.kind() != formats::ValueKind::Dict) return value.tensor();
  const auto& indices = value.at("indices").tensor();
  const auto& values = value.at("values").tensor();
  const bool is_coalesced = value.at("is_coalesced").boolean();
  try {
    at::_validate_sparse_coo_tensor_args(indices, values, sizes, is_coalesced);
  } catch (const c10::Error& error) {
    fail("a sparse gradient is invalid: ", error.what_without_backtrace());
  }
  return at::sparse_coo_tensor(indices, values, sizes, values.options().layout(at::kSparse), is_coalesced);
}

void add_gradients(std::vector<AccumulatedGradient>& gradients, const TrainingState& state, const TorchValue& file,
                   double factor) {
  const auto& models = file.at("gradients").items();
  if (models.empty()) return;
  if (models.size() != state.models.size()) {
    fail("it has gradients of ", models.size(), " models; the program has ", state.models.size());
  }
  for (size_t i = 0; i < models.size(); ++i) {
    const auto parameters = state.models[i]->named_parameters();
    for (const auto& [name, value] : models[i].entries()) {
      const auto* parameter = parameters.find(name.text());
      const auto gradient = parameter ? gradient_of(value, parameter->sizes()) : at::Tensor();
      if (!parameter || parameter->sizes() != gradient.sizes()) {
        fail("the gradient of ", name.text(), " belongs to another model");
      }
      gradients.push_back({*parameter, gradient, factor});
    }
  }
}

/// Files of older releases have no items.
ItemState items_of(const TorchValue& file) {
  const auto* items = file.find("items");
  if (!items) return {};
  const ItemState state{.num_items = items->at("num_items").integer(), .divisor = items->at("divisor").integer()};
  if (state.num_items < 0 || state.divisor < 0) {
    fail("the accumulation window has ", state.num_items, " items, divided by ", state.divisor);
  }
  return state;
}

}  // namespace

TorchValue accumulated_gradients(const TrainingState& state) {
  auto models = TorchValue::list();
  if (state.gradient_state->sync_gradients) return models;
  for (const auto& model : state.models) {
    auto gradients = TorchValue::dict();
    const auto tensor_of = [](const auto& named) -> const at::Tensor& { return named.value(); };
    for (const auto& parameter : tensors::distinct_tensors(model->named_parameters().items(), tensor_of)) {
      if (!parameter->grad().defined()) continue;
      gradients.entries().emplace_back(parameter.key(), value_of_gradient(parameter->grad()));
    }
    models.items().push_back(std::move(gradients));
  }
  return models;
}

TorchValue counted_items(const TrainingState& state) {
  const auto& items = state.gradient_state->items.state();
  return TorchValue::dict({{"num_items", items.num_items}, {"divisor", items.divisor}});
}

OpenWindow window_of(const TorchValue& file, const TrainingState& state) {
  OpenWindow window;
  add_gradients(window.gradients, state, file, 1);
  window.items = items_of(file);
  return window;
}

OpenWindow share_of_windows(const std::vector<TorchValue>& files, const TrainingState& state, int rank,
                            int world_size) {
  OpenWindow window;
  int64_t num_items = 0;
  for (const auto& file : files) {
    const auto items = items_of(file);
    num_items += items.num_items;
    window.items.divisor = std::max(window.items.divisor, items.divisor);
  }
  window.items.num_items = num_items / world_size + (rank < num_items % world_size ? 1 : 0);
  const auto divisor = static_cast<double>(window.items.divisor);
  for (const auto& file : files) {
    // Without items, gradients are averaged over ranks; with items, they are summed.
    const double factor = divisor == 0
                              ? 1.0 / static_cast<double>(files.size())
                              : static_cast<double>(items_of(file).divisor) / divisor / static_cast<double>(world_size);
    add_gradients(window.gradients, state, file, factor);
  }
  return window;
}

void restore(const OpenWindow& window, const TrainingState& state) {
  state.gradient_state->items.load(window.items);
  for (const auto& model : state.models) {
    for (auto& parameter : model->parameters()) parameter.mutable_grad().reset();
  }
  for (const auto& [parameter, gradient, factor] : window.gradients) {
    auto part = gradient.to(parameter.device(), parameter.scalar_type());
    if (factor != 1) part = part * factor;
    auto& own = parameter.mutable_grad();
    own = own.defined() ? own + part : part;
  }
}

}  // namespace accelerate::checkpoint
