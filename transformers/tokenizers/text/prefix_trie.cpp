#include "transformers/tokenizers/text/prefix_trie.h"

#include <algorithm>

namespace transformers::tokenizers {

PrefixTrie::PrefixTrie(std::vector<std::pair<std::string_view, uint32_t>> entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

  struct Range {  // entries that share the first `depth` bytes, and the node that those lead to
    size_t begin, end, depth;
    uint32_t node;
  };
  std::vector<Range> ranges = {{0, entries.size(), 0, 0}};
  nodes_[0].parent = 0;
  std::string bytes;
  std::vector<Range> children;
  while (!ranges.empty()) {
    auto [begin, end, depth, node] = ranges.back();
    ranges.pop_back();
    for (; begin < end && entries[begin].first.size() == depth; ++begin) nodes_[node].value = entries[begin].second;
    if (begin == end) continue;

    bytes.clear();
    children.clear();
    for (size_t i = begin; i < end; ++i) {
      char byte = entries[i].first[depth];
      if (bytes.empty() || bytes.back() != byte) {
        bytes.push_back(byte);
        children.push_back({i, i, depth + 1, 0});
      }
      children.back().end = i + 1;
    }
    uint32_t base = find_base(bytes);
    nodes_[node].base = base;
    for (size_t i = 0; i < bytes.size(); ++i) {
      children[i].node = base + static_cast<unsigned char>(bytes[i]);
      nodes_[children[i].node].parent = node;
    }
    ranges.insert(ranges.end(), children.rbegin(), children.rend());
  }
}

uint32_t PrefixTrie::find_base(std::string_view bytes) {
  auto is_free = [&](uint32_t place) { return place >= nodes_.size() || nodes_[place].parent == kNothing; };
  auto lowest = static_cast<unsigned char>(bytes.front());
  uint32_t tried = 0, taken = 0;
  for (uint32_t place = std::max<uint32_t>(first_free_, lowest + 1);; ++place) {
    ++tried;
    if (!is_free(place)) {
      ++taken;
      continue;
    }
    uint32_t base = place - lowest;
    bool fits = std::all_of(bytes.begin(), bytes.end(),
                            [&](char byte) { return is_free(base + static_cast<unsigned char>(byte)); });
    if (!fits) continue;
    // Later searches skip the part in which nearly all slots are taken.
    if (tried > 16 && taken * 20 > tried * 19) first_free_ = place;
    if (nodes_.size() < base + 512) nodes_.resize(base + 512);
    return base;
  }
}

}  // namespace transformers::tokenizers
