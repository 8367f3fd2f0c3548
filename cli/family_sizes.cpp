#include "cli/family_sizes.h"

#include <cctype>
#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"

namespace accelerate::cli {

const nlohmann::json* Sizes::find(const std::string& key) const {
  auto found = config_.find(key);
  return found == config_.end() || found->is_null() ? nullptr : &*found;
}

uint64_t Sizes::operator()(const std::string& key, std::optional<uint64_t> preset) const {
  const auto* value = find(key);
  if (!value) {
    if (preset) return *preset;
    fail(source_, ": has no ", key, ", which this family needs");
  }
  if (!value->is_number_unsigned() || *value > 1'000'000'000) {
    fail(source_, ": ", key, " is ", value->dump(), "; it must be a whole number");
  }
  return value->get<uint64_t>();
}

uint64_t Sizes::layers(const std::string& key, std::optional<uint64_t> preset) const {
  const auto count = (*this)(key, preset);
  if (count > 100'000) fail(source_, ": ", key, " is ", count, "; no model has that many layers");
  return count;
}

std::optional<uint64_t> Sizes::if_positive(const std::string& key) const {
  const auto* value = find(key);
  if (!value || (value->is_number_integer() && *value < 1)) return std::nullopt;
  return (*this)(key);
}

bool Sizes::is_on(const std::string& key, bool preset) const {
  const auto* value = find(key);
  if (!value) return preset;
  if (!value->is_boolean()) fail(source_, ": ", key, " is ", value->dump(), "; it must be true or false");
  return value->get<bool>();
}

std::vector<std::string> Sizes::words(const std::string& key) const {
  const auto* value = find(key);
  std::vector<std::string> words;
  if (!value) return words;
  const auto list = value->is_array() ? *value : nlohmann::json::array({*value});
  for (const auto& item : list) {
    if (!item.is_string())
      fail(source_, ": ", key, " is ", value->dump(), "; it must be a string or a list of strings");
    words.emplace_back();
    for (unsigned char letter : item.get<std::string>()) {
      if (letter == '|') {
        words.emplace_back();
      } else if (!std::isspace(letter)) {
        words.back() += static_cast<char>(std::tolower(letter));
      }
    }
  }
  return words;
}

void TensorList::add(const std::string& name, uint64_t elements, uint64_t element_bytes) {
  tensors.push_back({name, elements * element_bytes});
}

void TensorList::add_linear(const std::string& name, uint64_t inputs, uint64_t outputs, bool bias) {
  add(name + ".weight", inputs * outputs);
  if (bias) add(name + ".bias", outputs);
}

void TensorList::add_norm(const std::string& name, uint64_t size, bool bias) {
  add(name + ".weight", size);
  if (bias) add(name + ".bias", size);
}

}  // namespace accelerate::cli
