#include "transformers/tokenizers/offset_trimming.h"

#include <algorithm>

#include "transformers/tokenizers/description.h"

namespace transformers::tokenizers {

namespace {

void trim(Encoding& encoding, bool add_prefix_space) {
  bool seen_text = false;
  for (size_t i = 0; i < encoding.size(); ++i) {
    if (encoding.special_tokens_mask[i] != 0) continue;
    auto [leading, trailing] = encoding.spaces[i];
    auto& [begin, end] = encoding.offsets[i];
    bool at_start = !seen_text || begin == 0;
    seen_text = true;
    if (at_start && add_prefix_space && leading == 1) leading = 0;
    begin = std::min(begin + leading, end);
    if (end >= trailing) end = std::max(end - trailing, begin);
  }
}

}  // namespace

void OffsetTrimming::apply(std::vector<Encoding>& encodings) const {
  if (!trim_offsets) return;
  for (auto& encoding : encodings) {
    trim(encoding, add_prefix_space);
    for (auto& window : encoding.overflowing) trim(window, add_prefix_space);
  }
}

OffsetTrimming read_offset_trimming(const nlohmann::json& description) {
  return {field<bool>(description, "trim_offsets"), field<bool>(description, "add_prefix_space")};
}

}  // namespace transformers::tokenizers
