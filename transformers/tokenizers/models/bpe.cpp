#include "transformers/tokenizers/models/bpe.h"

#include "accelerate/base/error.h"
#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/models/token_cache.h"
#include "transformers/tokenizers/models/vocabulary.h"

namespace transformers::tokenizers {

using accelerate::append_character;
using accelerate::character_bytes;
using accelerate::first_character;

using accelerate::fail;

namespace {

// Covers Latin and the alphabet of byte-level models.
constexpr char32_t kNumDirectCharacters = 0x180;

using MergePairs = std::vector<std::pair<std::string, std::string>>;

uint32_t id_of_merged(const Vocabulary& vocabulary, const std::string& token, size_t index) {
  auto id = vocabulary.find(token);
  if (!id) fail("BPE: merge ", index, " uses '", token, "', which is not in the vocabulary");
  return *id;
}

Merges make_merges(const Vocabulary& vocabulary, const MergePairs& pairs, size_t prefix_bytes) {
  Merges merges(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto& [left, right] = pairs[i];
    if (right.size() < prefix_bytes) fail("BPE: merge ", i, " has '", right, "' without the prefix inside a word");
    uint32_t left_id = id_of_merged(vocabulary, left, i);
    uint32_t right_id = id_of_merged(vocabulary, right, i);
    uint32_t merged_id = id_of_merged(vocabulary, left + right.substr(prefix_bytes), i);
    merges.set(left_id, right_id, {static_cast<uint32_t>(i), merged_id});
  }
  return merges;
}

}  // namespace

Bpe::Bpe(Vocabulary vocabulary, const MergePairs& merges, BpeOptions options)
    : vocabulary_(std::move(vocabulary)),
      options_(std::move(options)),
      merges_(make_merges(vocabulary_, merges, options_.continuing_subword_prefix.size())),
      cache_owner_(TokenCache::next_owner()) {
  if (options_.byte_fallback) byte_ids_ = find_byte_tokens(vocabulary_);
  for (char32_t character = 0; character < kNumDirectCharacters; ++character) {
    std::string text;
    append_character(text, character);
    character_ids_.push_back(vocabulary_.find(text));
  }
}

void Bpe::tokenize(std::string_view piece, std::vector<Token>& tokens) const {
  if (piece.empty()) return;
  auto& cache = TokenCache::of_this_thread();
  if (cache.find(cache_owner_, piece, tokens)) return;

  size_t first = tokens.size();
  auto whole = options_.ignore_merges ? vocabulary_.find(piece) : std::nullopt;
  if (whole) {
    tokens.push_back({*whole, 0, static_cast<uint32_t>(piece.size())});
  } else {
    thread_local std::vector<Symbol> symbols;
    symbols.clear();
    split_characters(piece, symbols);
    merge_symbols(merges_, symbols);
    uint32_t begin = 0;
    for (const auto& symbol : symbols) {
      tokens.push_back({symbol.id, begin, begin + symbol.bytes});
      begin += symbol.bytes;
    }
  }
  cache.store(cache_owner_, piece, tokens, first);
}

std::optional<uint32_t> Bpe::find_character(std::string_view character) const {
  if (character.size() <= 2) {
    char32_t code_point = first_character(character);
    if (code_point < kNumDirectCharacters && character.size() == character_bytes(character[0])) {
      return character_ids_[code_point];
    }
  }
  return vocabulary_.find(character);
}

void Bpe::split_characters(std::string_view piece, std::vector<Symbol>& symbols) const {
  std::optional<Symbol> unknown;  // waits for the next known character, because more may be fused with it
  auto add_unknown = [&] {
    if (unknown) symbols.push_back(*unknown);
    unknown.reset();
  };
  std::string decorated;
  for (size_t begin = 0, end = 0; begin < piece.size(); begin = end) {
    end = begin + character_bytes(piece[begin]);
    std::string_view character = piece.substr(begin, end - begin);
    auto bytes = static_cast<uint32_t>(character.size());
    bool has_prefix = begin > 0 && !options_.continuing_subword_prefix.empty();
    bool has_suffix = end == piece.size() && !options_.end_of_word_suffix.empty();
    if (has_prefix || has_suffix) {
      decorated = has_prefix ? options_.continuing_subword_prefix : "";
      decorated.append(character).append(has_suffix ? options_.end_of_word_suffix : "");
      character = decorated;
    }
    if (auto id = find_character(character)) {
      add_unknown();
      symbols.push_back({*id, bytes});
    } else if (add_bytes(character, symbols)) {
      continue;
    } else if (options_.unk_token) {
      if (!options_.fuse_unk) add_unknown();
      if (!unknown) unknown = Symbol{unk_id(), 0};
      unknown->bytes += bytes;
    }
  }
  add_unknown();
}

bool Bpe::add_bytes(std::string_view character, std::vector<Symbol>& symbols) const {
  if (!options_.byte_fallback) return false;
  size_t before = symbols.size();
  for (char byte : character) {
    auto id = byte_ids_[static_cast<unsigned char>(byte)];
    if (!id) {
      symbols.resize(before);
      return false;
    }
    symbols.push_back({*id, 1});
  }
  return true;
}

uint32_t Bpe::unk_id() const {
  auto id = vocabulary_.find(*options_.unk_token);
  if (!id)
    fail("BPE: a text has an unknown character, and the unk_token '", *options_.unk_token,
         "' is not in the vocabulary");
  return *id;
}

namespace {

MergePairs read_merges(const nlohmann::json& description) {
  MergePairs merges;
  for (const auto& merge : list_field(description, "merges")) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
      continue;
    }
    std::string text = merge.is_string() ? merge.get<std::string>() : "";
    if (text.starts_with("#version")) continue;
    size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
      fail("BPE: merge ", merges.size(), " is ", merge.dump(), "; it must be two tokens with a space between them");
    }
    merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }
  return merges;
}

}  // namespace

std::unique_ptr<Model> read_bpe(const nlohmann::json& description) {
  if (auto dropout = optional_field<double>(description, "dropout"); dropout.value_or(0) != 0) {
    fail("BPE: 'dropout' is ", *dropout, ", which makes tokens random; only 0 and null are supported");
  }
  BpeOptions options;
  options.unk_token = optional_field<std::string>(description, "unk_token");
  options.continuing_subword_prefix = field_or<std::string>(description, "continuing_subword_prefix", "");
  options.end_of_word_suffix = field_or<std::string>(description, "end_of_word_suffix", "");
  options.fuse_unk = field_or(description, "fuse_unk", false);
  options.byte_fallback = field_or(description, "byte_fallback", false);
  options.ignore_merges = field_or(description, "ignore_merges", false);
  return std::make_unique<Bpe>(read_vocabulary(description), read_merges(description), std::move(options));
}

}  // namespace transformers::tokenizers
