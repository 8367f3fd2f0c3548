#include "transformers/tokenizers/padding.h"

#include <algorithm>

namespace transformers::tokenizers {

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
