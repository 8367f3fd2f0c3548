#include "accelerate/checkpoint/loop_state.h"

#include <algorithm>
#include <unordered_set>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/checkpoint/file_names.h"

namespace accelerate::checkpoint {
namespace {

namespace fs = std::filesystem;
using tensors::TorchValue;

constexpr int64_t kVersion = 1;

/// What a batch of all ranks takes from the data set: samples, or batches where these differ in size.
int64_t round_size(const data::PreparedCore& loader) {
  if (loader.loader().batch_size()) return loader.total_batch_size();
  return loader.options().configuration.split_batches ? 1 : loader.world_size();
}

TorchValue value_if_defined(const at::Tensor& tensor) { return tensor.defined() ? TorchValue(tensor) : TorchValue(); }

at::Tensor tensor_if_there(const TorchValue* value) {
  return value && !value->is_none() ? value->tensor() : at::Tensor();
}

TorchValue value_of(const data::PreparedCore& loader) {
  const auto place = loader.state_dict();
  return TorchValue::dict({{"epoch", place.epoch},
                           {"batches_seen", place.batches_seen},
                           {"round_size", round_size(loader)},
                           {"seed", place.seed ? TorchValue(static_cast<int64_t>(*place.seed)) : TorchValue()},  // bits
                           {"generator_state", value_if_defined(place.generator_state)},
                           {"read_ahead_state", value_if_defined(place.read_ahead_state)}});
}

/// The place for a loader that may read other batches, with other ranks, than the saved one: none is left out.
data::LoaderState place_for(const data::PreparedCore& loader, const TorchValue& value, bool same_job) {
  const int64_t taken = value.at("batches_seen").integer() * value.at("round_size").integer();
  const int64_t again = taken % round_size(loader);
  if (again != 0) {
    get_logger("accelerate.checkpoint")
        .warning("the batches of this job are others than those of the saved one: " + std::to_string(again) + " " +
                 (loader.loader().batch_size() ? "samples" : "batches") + " of this epoch come a second time");
  }
  data::LoaderState place{.epoch = value.at("epoch").integer(), .batches_seen = taken / round_size(loader)};
  if (!value.at("seed").is_none()) place.seed = static_cast<uint64_t>(value.at("seed").integer());
  place.generator_state = tensor_if_there(&value.at("generator_state"));
  // In a job of another size the next batch is not the one that was read ahead. Older checkpoints do not have it.
  if (same_job) place.read_ahead_state = tensor_if_there(value.find("read_ahead_state"));
  loader.check_state(place);
  return place;
}

/// Files hold dense tensors only: a sparse gradient is kept as what it is made of.
TorchValue value_of(const at::Tensor& gradient) {
  if (!gradient.is_sparse()) return gradient.detach();
  return TorchValue::dict({{"indices", gradient.detach()._indices()},
                           {"values", gradient.detach()._values()},
                           {"is_coalesced", gradient.is_coalesced()}});
}

/// The opposite, for a parameter of `sizes`.
at::Tensor gradient_of(const TorchValue& value, at::IntArrayRef sizes) {
  if (value.kind() != formats::ValueKind::Dict) return value.tensor();
  const auto& indices = value.at("indices").tensor();
  const auto& values = value.at("values").tensor();
  const bool is_coalesced = value.at("is_coalesced").boolean();
  try {
    at::_validate_sparse_coo_tensor_args(indices, values, sizes, is_coalesced);
  } catch (const c10::Error& error) {
    fail("a sparse gradient makes no sense: ", error.what_without_backtrace());
  }
  return at::sparse_coo_tensor(indices, values, sizes, values.options().layout(at::kSparse), is_coalesced);
}

/// The gradients of each model by name, if the window of accumulation is open.
TorchValue waiting_gradients(const TrainingState& state) {
  auto models = TorchValue::list();
  if (state.gradient_state->sync_gradients) return models;
  for (const auto& model : state.models) {
    auto gradients = TorchValue::dict();
    std::unordered_set<const c10::TensorImpl*> seen;  // a tied parameter has several names
    for (const auto& parameter : model->named_parameters()) {
      if (!parameter->grad().defined() || !seen.insert(parameter->unsafeGetTensorImpl()).second) continue;
      gradients.entries().emplace_back(parameter.key(), value_of(parameter->grad()));
    }
    models.items().push_back(std::move(gradients));
  }
  return models;
}

TorchValue read_file(const fs::path& directory, int rank) {
  const auto path = directory / loop_state_file(rank);
  auto file = tensors::load_torch_file(path);
  if (const auto version = file.at("version").integer(); version > kVersion) {
    fail(path.string(), ": a newer release has written it (version ", version, "; this one reads ", kVersion, ")");
  }
  return file;
}

using Gradients = std::vector<std::pair<at::Tensor, at::Tensor>>;  // parameter, gradient

void add_gradients(Gradients& gradients, const TrainingState& state, const TorchValue& file) {
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
      gradients.emplace_back(*parameter, gradient);
    }
  }
}

}  // namespace

TorchValue loop_state(const TrainingState& state, int world_size) {
  auto loaders = TorchValue::list();
  for (const auto& loader : state.loaders) loaders.items().push_back(value_of(*loader));
  return TorchValue::dict({{"version", kVersion},
                           {"world_size", world_size},
                           {"sync_gradients", state.gradient_state->sync_gradients},
                           {"loaders", std::move(loaders)},
                           {"gradients", waiting_gradients(state)}});
}

std::function<void()> checked_loop_state(const fs::path& directory, const TrainingState& state, int rank,
                                         int world_size) {
  const auto ranks = ranks_with_file(directory, loop_state_file);
  if (ranks.empty()) return [] {};
  const int first = std::binary_search(ranks.begin(), ranks.end(), rank) ? rank : ranks.front();
  auto file = read_file(directory, first);
  const auto saved_ranks = static_cast<int>(file.at("world_size").integer());
  const bool same_job = saved_ranks == world_size;
  if (const int right = same_job ? rank : ranks.front(); right != first) file = read_file(directory, right);

  const auto& saved = file.at("loaders").items();
  if (saved.size() != state.loaders.size()) {
    fail("there are ", saved.size(), " data loaders; the program has prepared ", state.loaders.size());
  }
  std::vector<data::LoaderState> places;
  for (size_t i = 0; i < saved.size(); ++i) {
    places.push_back(place_for(*state.loaders[i], saved[i], same_job));
  }

  // The average over ranks is what counts: in a job of another size each rank gets its share of all of them.
  Gradients gradients;
  add_gradients(gradients, state, file);
  if (!same_job && !gradients.empty()) {
    if (std::ssize(ranks) != saved_ranks) {
      fail("the saved job of ", saved_ranks, " ranks was inside a window of accumulation, and only ", ranks.size(),
           " of their gradients are here; go on with as many ranks, or put the files of all machines together");
    }
    for (int other = 1; other < saved_ranks; ++other) add_gradients(gradients, state, read_file(directory, other));
  }
  const double share = same_job ? 1.0 : 1.0 / saved_ranks;

  return [state, places, gradients, share, sync_gradients = file.at("sync_gradients").boolean()]() mutable {
    for (size_t i = 0; i < places.size(); ++i) state.loaders[i]->load_state_dict(places[i]);
    state.gradient_state->sync_gradients = sync_gradients;
    for (const auto& model : state.models) {
      for (auto& parameter : model->parameters()) parameter.mutable_grad().reset();
    }
    for (auto& [parameter, gradient] : gradients) {
      auto part = gradient.to(parameter.device(), parameter.scalar_type());
      if (share != 1.0) part = part * share;
      auto& own = parameter.mutable_grad();
      own = own.defined() ? own + part : part;
    }
  };
}

}  // namespace accelerate::checkpoint
