#include "transformers/tokenizers/models/vocabulary.h"

#include <algorithm>
#include <bit>

#include "accelerate/base/error.h"
#include "transformers/tokenizers/description.h"

namespace transformers::tokenizers {

namespace {

// Far above every vocabulary in use; a table by id of this size is still small.
constexpr uint32_t kMaxId = (1u << 26) - 1;

}  // namespace

Vocabulary::Vocabulary(std::vector<std::pair<std::string, uint32_t>> entries) : entries_(std::move(entries)) {
  uint32_t max_id = 0;
  for (const auto& entry : entries_) max_id = std::max(max_id, entry.second);
  entry_of_id_.assign(entries_.empty() ? 0 : max_id + 1, kEmpty);

  // At most half full, so that a look-up ends after one or two slots.
  slots_.resize(std::bit_ceil(2 * entries_.size() + 1));
  mask_ = slots_.size() - 1;
  for (uint32_t entry = 0; entry < entries_.size(); ++entry) {
    const auto& [text, id] = entries_[entry];
    entry_of_id_[id] = entry;
    uint64_t hash = hash_text(text);
    size_t index = hash & mask_;
    while (slots_[index].entry != kEmpty && entries_[slots_[index].entry].first != text) index = (index + 1) & mask_;
    slots_[index] = {static_cast<uint32_t>(hash >> 32), entry};
  }
}

const std::string* Vocabulary::text(uint32_t id) const {
  if (id >= entry_of_id_.size() || entry_of_id_[id] == kEmpty) return nullptr;
  return &entries_[entry_of_id_[id]].first;
}

Vocabulary read_vocabulary(const nlohmann::json& description) {
  const auto& vocab = object_field(description, "vocab");
  std::vector<std::pair<std::string, uint32_t>> entries;
  entries.reserve(vocab.size());
  for (const auto& [text, id] : vocab.items()) {
    if (!holds<uint32_t>(id) || id.get<uint32_t>() > kMaxId) {
      accelerate::fail("the id of '", text, "' in the field 'vocab' is ", id.dump(), "; it must be from 0 to ", kMaxId);
    }
    entries.emplace_back(text, id.get<uint32_t>());
  }
  return Vocabulary(std::move(entries));
}

}  // namespace transformers::tokenizers
