#include "transformers/tokenizers/models/token_cache.h"

#include <atomic>

namespace transformers::tokenizers {

TokenCache& TokenCache::of_this_thread() {
  thread_local TokenCache cache;
  return cache;
}

uint32_t TokenCache::next_owner() {
  static std::atomic<uint32_t> last = 0;  // 0 owns the empty entries
  return ++last;
}

void TokenCache::store(uint32_t owner, std::string_view word, const std::vector<Token>& tokens, size_t first) {
  size_t num_tokens = tokens.size() - first;
  if (word.size() > kMaxBytes || num_tokens > kMaxTokens) return;
  uint32_t covered = 0;
  for (size_t i = first; i < tokens.size(); ++i) {
    if (tokens[i].begin != covered || tokens[i].end > kMaxBytes) return;
    covered = tokens[i].end;
  }
  Entry& entry = entries_[hash_text(word) % kEntries];
  entry.owner = owner;
  entry.bytes = static_cast<uint8_t>(word.size());
  entry.num_tokens = static_cast<uint8_t>(num_tokens);
  std::memcpy(entry.word.data(), word.data(), word.size());
  for (size_t i = 0; i < num_tokens; ++i) {
    entry.ids[i] = tokens[first + i].id;
    entry.ends[i] = static_cast<uint8_t>(tokens[first + i].end);
  }
}

}  // namespace transformers::tokenizers
