#pragma once

// The vocabulary of a model: a hash table from texts to ids, and the inverse.

#include <cstdint>
#include <cstring>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace transformers::tokenizers {

/// A fast hash of a short text.
inline uint64_t hash_text(std::string_view text) {
  auto mix = [](uint64_t value) {
    __extension__ auto product = static_cast<unsigned __int128>(value) * 0x9E3779B97F4A7C15u;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t hash = ~static_cast<uint64_t>(text.size());
  uint64_t word = 0;
  while (text.size() >= sizeof(word)) {
    std::memcpy(&word, text.data(), sizeof(word));
    hash = mix(hash ^ word);
    text.remove_prefix(sizeof(word));
  }
  word = 0;
  for (char byte : text) word = word << 8 | static_cast<unsigned char>(byte);
  return mix(hash ^ word);
}

/// Entries with their ids. Ids may have gaps. If a text occurs twice, the later id is used.
class Vocabulary {
 public:
  Vocabulary() = default;

  explicit Vocabulary(std::vector<std::pair<std::string, uint32_t>> entries);

  /// The id of `text`.
  std::optional<uint32_t> find(std::string_view text) const {
    if (slots_.empty()) return std::nullopt;
    uint64_t hash = hash_text(text);
    for (size_t index = hash & mask_;; index = (index + 1) & mask_) {
      const Slot& slot = slots_[index];
      if (slot.entry == kEmpty) return std::nullopt;
      if (slot.tag == static_cast<uint32_t>(hash >> 32) && entries_[slot.entry].first == text) {
        return entries_[slot.entry].second;
      }
    }
  }

  /// The text with this id, or null.
  const std::string* text(uint32_t id) const;

  /// Number of entries.
  size_t size() const { return entries_.size(); }

  /// All entries with their ids.
  const std::vector<std::pair<std::string, uint32_t>>& entries() const { return entries_; }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;

  struct Slot {
    uint32_t tag = 0;  // upper bits of the hash, to avoid most comparisons of texts
    uint32_t entry = kEmpty;
  };

  std::vector<std::pair<std::string, uint32_t>> entries_;
  std::vector<uint32_t> entry_of_id_;
  std::vector<Slot> slots_;
  uint64_t mask_ = 0;
};

/// Reads the "vocab" of a model: an object of texts with their ids. Throws Error when it is not.
Vocabulary read_vocabulary(const nlohmann::json& description);

/// The id of each byte's token; some may be missing.
inline std::vector<std::optional<uint32_t>> find_byte_tokens(const Vocabulary& vocabulary) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::vector<std::optional<uint32_t>> ids;
  for (unsigned byte = 0; byte < 256; ++byte) {
    ids.push_back(vocabulary.find(std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + '>'));
  }
  return ids;
}

}  // namespace transformers::tokenizers
