#pragma once

// Finds all entries of a vocabulary that are prefixes of a text.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace transformers::tokenizers {

/// A double-array trie (Aoe, 1989): the child of a node for a byte is at the node's base plus the byte, and stores its
/// parent.
class PrefixTrie {
 public:
  PrefixTrie() = default;

  /// Entries are texts, not empty, with their values. Of equal texts the last one is used.
  explicit PrefixTrie(std::vector<std::pair<std::string_view, uint32_t>> entries);

  /// Calls `found` with the length and the value of each entry that `text` begins with, the shortest first.
  template <class Found>
  void for_each_prefix(std::string_view text, const Found& found) const {
    uint32_t node = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      uint32_t child = nodes_[node].base + static_cast<unsigned char>(text[i]);
      if (nodes_[child].parent != node) return;
      node = child;
      if (nodes_[node].value != kNothing) found(i + 1, nodes_[node].value);
    }
  }

 private:
  static constexpr uint32_t kNothing = UINT32_MAX;

  struct Node {
    uint32_t base = 0;           // of its children; a leaf has a base whose slots belong to other nodes
    uint32_t parent = kNothing;  // kNothing if the slot is free
    uint32_t value = kNothing;
  };

  uint32_t find_base(std::string_view bytes);  // in ascending order

  std::vector<Node> nodes_ = std::vector<Node>(257);
  uint32_t first_free_ = 1;
};

}  // namespace transformers::tokenizers
