#pragma once

// A cache of the tokens of short words.

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "transformers/tokenizers/models/model.h"
#include "transformers/tokenizers/models/vocabulary.h"

namespace transformers::tokenizers {

/// A direct-mapped cache. Each thread has one, shared by all models, so that no locks are needed. Words are not cached
/// if they are long, or if their tokens overlap or do not cover all bytes.
class TokenCache {
 public:
  /// The table of the calling thread.
  static TokenCache& of_this_thread();

  /// A new id for a model; it is part of the key of its words.
  static uint32_t next_owner();

  /// Appends the tokens of `word` if they are known.
  bool find(uint32_t owner, std::string_view word, std::vector<Token>& tokens) const {
    if (word.size() > kMaxBytes) return false;
    const Entry& entry = entries_[hash_text(word) % kEntries];
    if (entry.owner != owner || entry.bytes != word.size()) return false;
    if (std::memcmp(entry.word.data(), word.data(), word.size()) != 0) return false;
    uint32_t begin = 0;
    for (size_t i = 0; i < entry.num_tokens; ++i) {
      tokens.push_back({entry.ids[i], begin, entry.ends[i]});
      begin = entry.ends[i];
    }
    return true;
  }

  /// Stores the tokens of `word`: those of `tokens` from index `first` on.
  void store(uint32_t owner, std::string_view word, const std::vector<Token>& tokens, size_t first);

 private:
  static constexpr size_t kEntries = 1 << 14;
  static constexpr size_t kMaxBytes = 28;
  static constexpr size_t kMaxTokens = 6;

  struct alignas(64) Entry {  // one cache line
    uint32_t owner = 0;
    std::array<uint32_t, kMaxTokens> ids{};
    std::array<uint8_t, kMaxTokens> ends{};
    uint8_t bytes = 0;
    uint8_t num_tokens = 0;
    std::array<char, kMaxBytes> word{};
  };
  static_assert(sizeof(Entry) == 64);

  std::vector<Entry> entries_ = std::vector<Entry>(kEntries);
};

}  // namespace transformers::tokenizers
