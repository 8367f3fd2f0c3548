#pragma once

// Tokens beside the vocabulary of the model: found in the text before it is cut into words.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transformers/tokenizers/models/model.h"
#include "transformers/tokenizers/normalizers/normalizer.h"
#include "transformers/tokenizers/text/pieces.h"
#include "transformers/tokenizers/text/prefix_trie.h"

namespace transformers::tokenizers {

struct AddedToken {
  std::string content = {};
  bool single_word = false;  // found only where no word continues before or after it
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // takes the white space after it along
  bool normalized = true;    // looked for in the normalized text, in its own normalized form
  bool special = false;      // left out by decode
};

/// The added tokens of a tokenizer.
class AddedTokens {
 public:
  AddedTokens() = default;

  /// Gives each token the id that `model` has for its content, or else the next free one; the last of equal tokens
  /// counts. `normalizer` may be null.
  AddedTokens(const std::vector<AddedToken>& tokens, const Model& model, const Normalizer* normalizer);

  /// Starts `pieces` with `text`: normalized, and cut at the added tokens. `part` is memory for the work.
  void extract(std::string_view text, const Normalizer* normalizer, Pieces& pieces, NormalizedText& part) const;

  /// The id of the token with this content.
  std::optional<uint32_t> find(std::string_view content) const;

  /// The token as it is decoded, or null when `id` is not one of an added token.
  const std::string* text(uint32_t id) const;

  /// Whether decode can leave `id` out.
  bool is_special(uint32_t id) const;

  /// How many tokens `model` does not have itself.
  size_t num_beyond(const Model& model) const;

 private:
  struct Entry {
    AddedToken token;
    std::string text;  // its normalized form, or its content
  };

  /// Looks for many tokens at once: the one that begins first, and of those the longest.
  class Finder {
   public:
    void build(std::vector<std::pair<std::string_view, uint32_t>> texts);

    struct Match {
      size_t begin, end;
      uint32_t id;
    };
    std::optional<Match> find(std::string_view text, size_t from) const;

   private:
    PrefixTrie trie_;
    std::array<bool, 256> begins_ = {};  // whether a token begins with the byte
    bool empty_ = true;
  };

  template <class Found>
  void for_each_part(std::string_view text, const Finder& finder, const Found& found) const;

  std::map<uint32_t, Entry> entries_;
  std::map<std::string, uint32_t, std::less<>> ids_;
  Finder plain_;       // for the text as it is
  Finder normalized_;  // for the normalized text
};

/// Reads the "added_tokens" of a tokenizer.json.
std::vector<AddedToken> read_added_tokens(const nlohmann::json& list);

}  // namespace transformers::tokenizers
