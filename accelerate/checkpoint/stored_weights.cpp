#include "accelerate/checkpoint/stored_weights.h"

#include <map>
#include <set>
#include <sstream>

#include <ATen/core/grad_mode.h>

#include "accelerate/base/error.h"
#include "accelerate/formats/safetensors_shards.h"
#include "accelerate/tensors/safetensors_file.h"
#include "accelerate/tensors/torch_file.h"

namespace accelerate::checkpoint {
namespace {

namespace fs = std::filesystem;
using tensors::TorchValue;

/// Equal for names of the same numbers in memory.
using Place = std::tuple<const void*, std::vector<int64_t>, std::vector<int64_t>>;

Place place_of(const at::Tensor& tensor) {
  return {tensor.const_data_ptr(), tensor.sizes().vec(), tensor.strides().vec()};
}

std::vector<StoredTensor> open_safetensors_file(const fs::path& path) {
  tensors::SafetensorsFile file(path);
  std::vector<StoredTensor> stored;
  for (const auto& entry : file.entries()) {
    stored.push_back({.name = entry.name, .shape = entry.shape, .copy_into = [file, entry](at::Tensor& tensor) {
                        file.copy_into(entry, tensor);
                      }});
  }
  return stored;
}

std::vector<StoredTensor> open_torch_model(const fs::path& path) {
  std::vector<StoredTensor> stored;
  const auto weights = tensors::load_torch_file(path);
  for (const auto& [name, value] : weights.entries()) {
    auto tensor = value.tensor();
    stored.push_back({.name = name.text(), .shape = tensor.sizes().vec(), .copy_into = [tensor](at::Tensor& target) {
                        target.copy_(tensor);
                      }});
  }
  return stored;
}

void list_names(std::ostringstream& text, const char* title, const std::vector<std::string>& names) {
  if (names.empty()) return;
  text << "\n  " << title << " (" << names.size() << "):";
  for (const auto& name : names) text << "\n    " << name;
}

}  // namespace

tensors::TensorList without_repeats(const train::StateDict& weights) {
  tensors::TensorList list;
  std::set<Place> places;
  for (const auto& item : weights) {
    if (item.value().numel() > 0 && !places.insert(place_of(item.value())).second) continue;
    list.emplace_back(item.key(), item.value());
  }
  return list;
}

void save_weights(const train::StateDict& weights, const fs::path& path) {
  if (path.extension() != ".bin") return tensors::save_safetensors(without_repeats(weights), path);
  auto dict = TorchValue::ordered_dict();
  for (const auto& item : weights) dict.entries().emplace_back(item.key(), item.value());
  tensors::save_torch_file(dict, path);
}

std::vector<StoredTensor> open_weights(const fs::path& path) {
  if (path.extension() == ".bin") return open_torch_model(path);
  if (path.extension() == ".json") return open_weights(path.parent_path().empty() ? "." : path.parent_path());
  if (!fs::is_directory(path)) return open_safetensors_file(path);
  const bool has_safetensors =
      fs::exists(path / "model.safetensors") || fs::exists(path / "model.safetensors.index.json");
  if (!has_safetensors && fs::exists(path / "pytorch_model.bin")) return open_torch_model(path / "pytorch_model.bin");
  std::vector<StoredTensor> all;
  for (const auto& shard : formats::open_safetensors_model(path)) {
    auto stored = open_safetensors_file(shard.path);
    all.insert(all.end(), std::move_iterator(stored.begin()), std::move_iterator(stored.end()));
  }
  return all;
}

CheckedWeights check_weights(const train::StateDict& model, std::vector<StoredTensor> stored, const fs::path& source,
                             bool strict) {
  CheckedWeights checked;
  std::vector<std::string> mismatched;
  std::vector<std::pair<at::Tensor, StoredTensor>> pairs;
  std::set<std::string> names;
  std::set<Place> filled;
  for (auto& item : stored) {
    const auto* tensor = model.find(item.name);
    if (!tensor) {
      checked.keys.unexpected_keys.push_back(item.name);
      continue;
    }
    names.insert(item.name);
    filled.insert(place_of(*tensor));
    if (tensor->sizes() != item.shape) {
      std::ostringstream line;
      line << item.name << ": " << at::IntArrayRef(item.shape) << " in the file, " << tensor->sizes()
           << " in the model";
      mismatched.push_back(line.str());
      continue;
    }
    pairs.emplace_back(*tensor, std::move(item));
  }
  for (const auto& item : model) {
    if (!names.contains(item.key()) && !filled.contains(place_of(item.value()))) {
      checked.keys.missing_keys.push_back(item.key());
    }
  }

  std::ostringstream complaints;
  if (strict) {
    list_names(complaints, "missing, only in the model", checked.keys.missing_keys);
    list_names(complaints, "unexpected, only in the file", checked.keys.unexpected_keys);
  }
  list_names(complaints, "of another shape", mismatched);
  if (!complaints.str().empty()) fail(source.string(), ": these are the weights of another model:", complaints.str());

  checked.load = [pairs = std::move(pairs)]() mutable {
    at::NoGradGuard no_grad;
    for (auto& [tensor, item] : pairs) item.copy_into(tensor);
  };
  return checked;
}

}  // namespace accelerate::checkpoint
