#pragma once

// Tokens for single bytes, "<0x00>" to "<0xFF>", for characters that a vocabulary does not have.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transformers/tokenizers/vocabulary.h"

namespace transformers::tokenizers {

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
