#include "transformers/tokenizers/length_options.h"

#include <algorithm>
#include <utility>

#include "accelerate/base/error.h"

namespace transformers::tokenizers {

using accelerate::fail;

namespace {

/// The number of tokens that each text of a pair keeps if the longer one is truncated first.
std::pair<size_t, size_t> longest_first(size_t first, size_t second, size_t max_length) {
  size_t shorter = std::min(first, second);
  size_t longer = shorter > max_length ? shorter : std::max(shorter, max_length - shorter);
  if (shorter + longer > max_length) {
    shorter = max_length / 2;
    longer = shorter + max_length % 2;
  }
  return first > second ? std::pair(longer, shorter) : std::pair(shorter, longer);
}

}  // namespace

void truncate(std::vector<Encoding>& encodings, const TruncationOptions& options) {
  auto cut = [&](size_t index, size_t length) { encodings[index].truncate(length, options.stride, options.direction); };
  if (options.max_length == 0) {
    for (size_t index = 0; index < encodings.size(); ++index) cut(index, 0);
    return;
  }
  size_t total = 0;
  for (const auto& encoding : encodings) total += encoding.size();
  if (total <= options.max_length) return;
  if (options.strategy == TruncationStrategy::LongestFirst) {
    if (encodings.size() == 1) return cut(0, options.max_length);
    auto [first, second] = longest_first(encodings[0].size(), encodings[1].size(), options.max_length);
    cut(0, first);
    return cut(1, second);
  }
  size_t chosen = options.strategy == TruncationStrategy::OnlyFirst ? 0 : 1;
  if (chosen >= encodings.size()) fail("truncation: the strategy is only_second, but there is one text");
  size_t to_remove = total - options.max_length;
  if (encodings[chosen].size() <= to_remove) {
    fail("truncation: text ", chosen + 1, " has ", encodings[chosen].size(), " tokens, but ", to_remove,
         " must be removed to reach max_length; truncate the other text too (longest_first)");
  }
  cut(chosen, encodings[chosen].size() - to_remove);
}

void pad(std::vector<Encoding>& encodings, const PaddingOptions& options) {
  size_t length = options.length.value_or(0);
  if (!options.length) {
    for (const auto& encoding : encodings) length = std::max(length, encoding.size());
  }
  size_t multiple = std::max<size_t>(options.pad_to_multiple_of, 1);
  length = (length + multiple - 1) / multiple * multiple;
  for (auto& encoding : encodings) encoding.pad(length, options.pad_id, options.pad_type_id, options.direction);
}

}  // namespace transformers::tokenizers
