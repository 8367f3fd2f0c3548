#pragma once

// The merge table of a BPE model, and the algorithm that applies it.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace transformers::tokenizers {

/// The result of merging a pair of tokens. Lower ranks are merged first.
struct Merge {
  static constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();

  uint32_t rank = kNever;
  uint32_t id = 0;
};

/// A hash table from pairs to merges.
class Merges {
 public:
  explicit Merges(size_t count = 0);

  /// Sets the merge of `left` and `right`. A later call for the same pair replaces it.
  void set(uint32_t left, uint32_t right, Merge merge);

  /// The merge of a pair, or one of rank kNever.
  Merge find(uint32_t left, uint32_t right) const {
    uint64_t pair = key(left, right);
    for (size_t index = first_slot(pair);; index = (index + 1) & mask_) {
      const Slot& slot = slots_[index];
      if (slot.pair == pair || slot.merge.rank == Merge::kNever) return slot.merge;
    }
  }

 private:
  struct Slot {
    uint64_t pair = 0;
    Merge merge;  // of rank kNever when the slot is empty
  };

  static uint64_t key(uint32_t left, uint32_t right) { return static_cast<uint64_t>(left) << 32 | right; }
  size_t first_slot(uint64_t pair) const { return (pair * 0x9E3779B97F4A7C15u) >> shift_; }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  int shift_ = 0;
};

/// A part of a word during merging: its id and its length in bytes.
struct Symbol {
  uint32_t id = 0;
  uint32_t bytes = 0;
};

/// Merges neighbouring symbols until no pair can be merged: the pair of the lowest rank first, and of equal ranks the
/// leftmost.
void merge_symbols(const Merges& merges, std::vector<Symbol>& symbols);

}  // namespace transformers::tokenizers
