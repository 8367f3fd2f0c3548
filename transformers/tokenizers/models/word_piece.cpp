#include "transformers/tokenizers/models/word_piece.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "accelerate/base/error.h"
#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/models/token_cache.h"
#include "transformers/tokenizers/text/unicode.h"

namespace transformers::tokenizers {

using accelerate::count_characters;
using accelerate::find_broken_utf8;
using accelerate::is_utf8_continuation;
using accelerate::last_character;

using accelerate::fail;

namespace {

Vocabulary without_prefix(const Vocabulary& vocabulary, std::string_view prefix) {
  std::vector<std::pair<std::string, uint32_t>> entries;
  for (const auto& [text, id] : vocabulary.entries()) {
    if (text.starts_with(prefix)) entries.emplace_back(text.substr(prefix.size()), id);
  }
  return Vocabulary(std::move(entries));
}

}  // namespace

WordPiece::WordPiece(Vocabulary vocabulary, WordPieceOptions options)
    : vocabulary_(std::move(vocabulary)),
      continuations_(without_prefix(vocabulary_, options.continuing_subword_prefix)),
      options_(std::move(options)),
      unk_id_(vocabulary_.find(options_.unk_token)),
      cache_owner_(TokenCache::next_owner()) {
  for (const auto& entry : vocabulary_.entries()) max_bytes_ = std::max(max_bytes_, entry.first.size());
}

void WordPiece::tokenize(std::string_view piece, std::vector<Token>& tokens) const {
  if (piece.size() <= options_.max_input_chars_per_word) {
    if (auto id = vocabulary_.find(piece)) {
      tokens.push_back({*id, 0, static_cast<uint32_t>(piece.size())});
      return;
    }
  }
  TokenCache& cache = TokenCache::of_this_thread();
  if (cache.find(cache_owner_, piece, tokens)) return;
  size_t first = tokens.size();
  if (count_characters(piece) > options_.max_input_chars_per_word || !cut(piece, tokens)) {
    tokens.resize(first);
    tokens.push_back({unk_id(piece), 0, static_cast<uint32_t>(piece.size())});
  }
  cache.store(cache_owner_, piece, tokens, first);
}

/// Appends the tokens of `word`; false if a part of it is not in the vocabulary.
bool WordPiece::cut(std::string_view word, std::vector<Token>& tokens) const {
  for (size_t begin = 0; begin < word.size();) {
    const Vocabulary& entries = begin == 0 ? vocabulary_ : continuations_;
    size_t end = std::min(word.size(), begin + max_bytes_);
    std::optional<uint32_t> id;
    for (; end > begin; --end) {
      bool inside_character = end < word.size() && is_utf8_continuation(word[end]);
      if (!inside_character && (id = entries.find(word.substr(begin, end - begin)))) break;
    }
    if (!id) return false;
    tokens.push_back({*id, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
    begin = end;
  }
  return true;
}

uint32_t WordPiece::unk_id(std::string_view word) const {
  if (!unk_id_) {
    fail("WordPiece: '", word, "' cannot be composed of entries of the vocabulary, and the unk_token '",
         options_.unk_token, "' is not an entry; add it, or set unk_token to an entry");
  }
  return *unk_id_;
}

Vocabulary read_vocab_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path.string(), ": cannot be read");
  std::vector<std::pair<std::string, uint32_t>> entries;
  for (std::string line; std::getline(file, line);) {
    if (auto broken = find_broken_utf8(line)) {
      fail(path.string(), ": line ", entries.size() + 1, " is not UTF-8 at byte ", *broken);
    }
    while (!line.empty() && is_white_space(last_character(line))) {
      do {
        line.pop_back();
      } while (!line.empty() && is_utf8_continuation(line.back()));
    }
    entries.emplace_back(line, static_cast<uint32_t>(entries.size()));
  }
  return Vocabulary(std::move(entries));
}

std::unique_ptr<Model> read_word_piece(const nlohmann::json& description) {
  WordPieceOptions options;
  options.unk_token = field<std::string>(description, "unk_token");
  options.continuing_subword_prefix = field<std::string>(description, "continuing_subword_prefix");
  options.max_input_chars_per_word = field<size_t>(description, "max_input_chars_per_word");
  return std::make_unique<WordPiece>(read_vocabulary(description), std::move(options));
}

}  // namespace transformers::tokenizers
