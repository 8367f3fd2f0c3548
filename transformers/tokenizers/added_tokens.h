#pragma once

// Added tokens: they are extracted from the text before the model tokenises the rest.

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
  bool single_word = false;  // matches whole words only
  bool lstrip = false;       // includes white space before it
  bool rstrip = false;       // includes white space after it
  bool normalized = true;    // its normalized form is searched in the normalized text
  bool special = false;      // skipped by decode
};

/// The added tokens of a tokenizer.
class AddedTokens {
 public:
  AddedTokens() = default;

  /// Each token gets the id that `model` has for its content, or else the next free id. Of tokens with equal content
  /// the last one is used. `normalizer` may be null.
  AddedTokens(const std::vector<AddedToken>& tokens, const Model& model, const Normalizer* normalizer);

  /// Sets `pieces` to the normalized `text`, split at added tokens. `part` is reused scratch memory.
  void extract(std::string_view text, const Normalizer* normalizer, Pieces& pieces, NormalizedText& part) const;

  /// The id of the token with this content.
  std::optional<uint32_t> find(std::string_view content) const;

  /// The text of the token in decode; null if `id` is not an added token.
  const std::string* text(uint32_t id) const;

  /// Whether decode skips `id` if special tokens are skipped.
  bool is_special(uint32_t id) const;

  /// The number of added tokens that are not in the vocabulary of `model`.
  size_t num_beyond(const Model& model) const;

 private:
  struct Entry {
    AddedToken token;
    std::string text;  // its normalized form, or its content
  };

  /// Searches many tokens at once. Finds the leftmost match, and of those the longest.
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
