#include "transformers/tokenizers/models/merges.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>

namespace transformers::tokenizers {

namespace {

// Up to this many symbols, looking at all ranks for each merge costs less than keeping them in order.
constexpr size_t kShortWord = 40;

constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();

void merge_short(const Merges& merges, std::vector<Symbol>& symbols) {
  Merge next[kShortWord];  // next[i]: what symbols i and i + 1 become
  size_t count = symbols.size();
  for (size_t i = 0; i + 1 < count; ++i) next[i] = merges.find(symbols[i].id, symbols[i + 1].id);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (next[i].rank < next[best].rank) best = i;
    }
    if (next[best].rank == Merge::kNever) break;
    symbols[best] = {next[best].id, symbols[best].bytes + symbols[best + 1].bytes};
    --count;
    std::copy(symbols.begin() + best + 2, symbols.begin() + count + 1, symbols.begin() + best + 1);
    std::copy(next + best + 1, next + count, next + best);
    if (best > 0) next[best - 1] = merges.find(symbols[best - 1].id, symbols[best].id);
    if (best + 1 < count) next[best] = merges.find(symbols[best].id, symbols[best + 1].id);
  }
  symbols.resize(count);
}

/// A symbol among neighbours that may disappear.
struct Link {
  uint32_t previous = kNowhere;
  uint32_t next = kNowhere;
  Merge merge;  // with the next symbol
};

void merge_long(const Merges& merges, std::vector<Symbol>& symbols) {
  std::vector<Link> links(symbols.size());
  // Rank above position in one number, so that the smallest is the merge to do first. An entry is out of date when its
  // rank is no longer that of the pair at its position.
  std::vector<uint64_t> entries;
  entries.reserve(symbols.size());
  auto entry = [&](uint32_t position) { return static_cast<uint64_t>(links[position].merge.rank) << 32 | position; };
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    links[i].previous = i == 0 ? kNowhere : i - 1;
    if (i + 1 == symbols.size()) break;
    links[i].next = i + 1;
    links[i].merge = merges.find(symbols[i].id, symbols[i + 1].id);
    if (links[i].merge.rank != Merge::kNever) entries.push_back(entry(i));
  }
  std::priority_queue queue(std::greater<>(), std::move(entries));
  auto update = [&](uint32_t position) {
    Link& link = links[position];
    link.merge = link.next == kNowhere ? Merge() : merges.find(symbols[position].id, symbols[link.next].id);
    if (link.merge.rank != Merge::kNever) queue.push(entry(position));
  };
  while (!queue.empty()) {
    uint64_t top = queue.top();
    queue.pop();
    auto position = static_cast<uint32_t>(top);
    Link& link = links[position];
    if (link.merge.rank != top >> 32) continue;

    uint32_t right = link.next;
    symbols[position] = {link.merge.id, symbols[position].bytes + symbols[right].bytes};
    symbols[right].bytes = 0;
    links[right].merge = {};
    link.next = links[right].next;
    if (link.next != kNowhere) links[link.next].previous = position;
    if (link.previous != kNowhere) update(link.previous);
    update(position);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.bytes == 0; });
}

}  // namespace

Merges::Merges(size_t count) : slots_(std::max<size_t>(2, std::bit_ceil(count + count / 2))) {
  mask_ = slots_.size() - 1;
  shift_ = 64 - std::countr_zero(slots_.size());
}

void Merges::set(uint32_t left, uint32_t right, Merge merge) {
  uint64_t pair = key(left, right);
  size_t index = first_slot(pair);
  while (slots_[index].pair != pair && slots_[index].merge.rank != Merge::kNever) index = (index + 1) & mask_;
  slots_[index] = {pair, merge};
}

void merge_symbols(const Merges& merges, std::vector<Symbol>& symbols) {
  symbols.size() <= kShortWord ? merge_short(merges, symbols) : merge_long(merges, symbols);
}

}  // namespace transformers::tokenizers
