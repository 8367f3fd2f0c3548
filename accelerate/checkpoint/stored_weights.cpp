#include "accelerate/checkpoint/stored_weights.h"

#include <map>
#include <set>
#include <sstream>

#include <ATen/core/grad_mode.h>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "accelerate/tensors/torch_file.h"

namespace accelerate::checkpoint {
namespace {

namespace fs = std::filesystem;
using tensors::TorchValue;

void list_names(std::ostringstream& text, const char* title, const std::vector<std::string>& names) {
  if (names.empty()) return;
  text << "\n  " << title << " (" << names.size() << "):";
  for (const auto& name : names) text << "\n    " << name;
}

}  // namespace

TensorMemoryKey memory_key_of(const at::Tensor& tensor) {
  return {tensor.const_data_ptr(), tensor.scalar_type(), tensor.sizes().vec(), tensor.strides().vec()};
}

tensors::TensorList deduplicated(const train::StateDict& weights) {
  tensors::TensorList list;
  std::set<TensorMemoryKey> seen;
  for (const auto& item : weights) {
    if (item.value().numel() > 0 && !seen.insert(memory_key_of(item.value())).second) continue;
    list.emplace_back(item.key(), item.value());
  }
  return list;
}

void write_weights(const train::StateDict& weights, const fs::path& name, const Append& append) {
  if (name.extension() != ".bin") return tensors::write_safetensors(deduplicated(weights), append);
  auto dict = TorchValue::ordered_dict();
  for (const auto& item : weights) dict.entries().emplace_back(item.key(), item.value());
  tensors::write_torch_file(dict, name.stem().string(), append);
}

void save_weights(const train::StateDict& weights, const fs::path& path) {
  AtomicFile file(path);
  write_weights(weights, path, [&](std::string_view bytes) { file.append(bytes); });
  file.commit();
}

CheckedWeights check_weights(const train::StateDict& model, const tensors::StoredTensors& stored,
                             const fs::path& source, bool strict) {
  CheckedWeights checked;
  std::vector<std::string> mismatched;
  std::vector<std::pair<at::Tensor, tensors::StoredTensor>> pairs;
  std::set<std::string> names;
  std::set<TensorMemoryKey> filled;
  for (const auto& [name, item] : stored) {
    const auto* tensor = model.find(name);
    if (!tensor) {
      checked.keys.unexpected_keys.push_back(name);
      continue;
    }
    names.insert(name);
    filled.insert(memory_key_of(*tensor));
    if (tensor->sizes() != item.shape) {
      std::ostringstream line;
      line << name << ": " << at::IntArrayRef(item.shape) << " in the file, " << tensor->sizes() << " in the model";
      mismatched.push_back(line.str());
      continue;
    }
    pairs.emplace_back(*tensor, item);
  }
  for (const auto& item : model) {
    if (!names.contains(item.key()) && !filled.contains(memory_key_of(item.value()))) {
      checked.keys.missing_keys.push_back(item.key());
    }
  }

  std::ostringstream complaints;
  if (strict) {
    list_names(complaints, "missing, only in the model", checked.keys.missing_keys);
    list_names(complaints, "unexpected, only in the file", checked.keys.unexpected_keys);
  }
  list_names(complaints, "with a different shape", mismatched);
  if (!complaints.str().empty()) fail(source.string(), ": these weights do not match the model:", complaints.str());

  checked.load = [pairs = std::move(pairs)] {
    at::NoGradGuard no_grad;
    tensors::copy_all(pairs);
  };
  return checked;
}

}  // namespace accelerate::checkpoint
