#include "transformers/tokenizers/added_tokens.h"

#include <algorithm>
#include <utility>

#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/text/unicode.h"

namespace transformers::tokenizers {

using accelerate::character_bytes;
using accelerate::first_character;
using accelerate::is_utf8_continuation;
using accelerate::last_character;

namespace {

bool is_word(char32_t character) { return character_properties()[character] & kWordCharacter; }

bool is_single_word(std::string_view text, size_t begin, size_t end) {
  bool continues_before = begin > 0 && is_word(last_character(text.substr(0, begin)));
  bool continues_after = end < text.size() && is_word(first_character(text.substr(end)));
  return !continues_before && !continues_after;
}

/// The start of the white space before `position`.
size_t before_spaces(std::string_view text, size_t position) {
  while (position > 0 && is_white_space(last_character(text.substr(0, position)))) {
    do --position;
    while (is_utf8_continuation(text[position]));
  }
  return position;
}

/// The end of the white space from `position` on.
size_t after_spaces(std::string_view text, size_t position) {
  while (position < text.size() && is_white_space(first_character(text.substr(position)))) {
    position += character_bytes(text[position]);
  }
  return position;
}

std::string normalized_form(const AddedToken& token, const Normalizer* normalizer) {
  if (!token.normalized || normalizer == nullptr) return token.content;
  NormalizedText text(token.content);
  normalizer->normalize(text);
  return std::string(text.text());
}

}  // namespace

void AddedTokens::Finder::build(std::vector<std::pair<std::string_view, uint32_t>> texts) {
  std::erase_if(texts, [](const auto& entry) { return entry.first.empty(); });
  for (const auto& [text, id] : texts) begins_[static_cast<unsigned char>(text[0])] = true;
  empty_ = texts.empty();
  trie_ = PrefixTrie(std::move(texts));
}

std::optional<AddedTokens::Finder::Match> AddedTokens::Finder::find(std::string_view text, size_t from) const {
  if (empty_) return std::nullopt;
  for (size_t begin = from; begin < text.size(); ++begin) {
    if (!begins_[static_cast<unsigned char>(text[begin])]) continue;
    std::optional<Match> longest;
    trie_.for_each_prefix(text.substr(begin),
                          [&](size_t bytes, uint32_t id) { longest = Match{begin, begin + bytes, id}; });
    if (longest) return longest;
  }
  return std::nullopt;
}

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens, const Model& model, const Normalizer* normalizer) {
  auto next_id = static_cast<uint32_t>(model.vocab_size());
  for (const auto& token : tokens) {
    if (token.content.empty()) continue;
    auto known = ids_.find(token.content);
    auto id = known != ids_.end() ? std::optional(known->second) : model.token_to_id(token.content);
    if (!id) id = next_id++;
    ids_.insert_or_assign(token.content, *id);
    entries_.insert_or_assign(*id, Entry{token, normalized_form(token, normalizer)});
  }
  std::vector<std::pair<std::string_view, uint32_t>> plain, normalized;
  for (const auto& [id, entry] : entries_) (entry.token.normalized ? normalized : plain).emplace_back(entry.text, id);
  plain_.build(std::move(plain));
  normalized_.build(std::move(normalized));
}

/// Calls `found(begin, end, id)` for the tokens in `text`, and for what lies between them with Piece::kText as the id.
template <class Found>
void AddedTokens::for_each_part(std::string_view text, const Finder& finder, const Found& found) const {
  size_t done = 0, from = 0;
  while (auto match = finder.find(text, from)) {
    const AddedToken& token = entries_.at(match->id).token;
    size_t begin = match->begin, end = from = match->end;
    if (token.single_word && !is_single_word(text, begin, end)) continue;
    if (token.lstrip) begin = before_spaces(text, begin);
    if (token.rstrip) end = after_spaces(text, end);
    begin = std::max(begin, done);  // the token before may have taken the white space
    if (begin >= end) continue;
    if (done < begin) found(done, begin, Piece::kText);
    found(begin, end, match->id);
    done = end;
  }
  if (done < text.size()) found(done, text.size(), Piece::kText);
}

void AddedTokens::extract(std::string_view text, const Normalizer* normalizer, Pieces& pieces,
                          NormalizedText& part) const {
  pieces.list.clear();
  auto add_normalized = [&](std::string_view normalized, size_t place) {
    for_each_part(normalized, normalized_, [&](size_t begin, size_t end, uint32_t id) {
      pieces.list.push_back({static_cast<uint32_t>(place + begin), static_cast<uint32_t>(place + end), id});
    });
  };
  bool is_whole = !plain_.find(text, 0);
  if (is_whole) {
    pieces.text.reset(text);
    if (normalizer != nullptr) normalizer->normalize(pieces.text);
    return add_normalized(pieces.text.text(), 0);
  }
  pieces.text.reset({});
  for_each_part(text, plain_, [&](size_t begin, size_t end, uint32_t id) {
    part.reset(text.substr(begin, end - begin), static_cast<uint32_t>(begin));
    if (id == Piece::kText && normalizer != nullptr) normalizer->normalize(part);
    size_t place = pieces.text.text().size();
    pieces.text.append(part);
    if (id == Piece::kText) {
      add_normalized(part.text(), place);
    } else {
      pieces.list.push_back({static_cast<uint32_t>(place), static_cast<uint32_t>(place + end - begin), id});
    }
  });
}

std::optional<uint32_t> AddedTokens::find(std::string_view content) const {
  auto found = ids_.find(content);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string* AddedTokens::text(uint32_t id) const {
  auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.text;
}

bool AddedTokens::is_special(uint32_t id) const {
  auto found = entries_.find(id);
  return found != entries_.end() && found->second.token.special;
}

size_t AddedTokens::num_beyond(const Model& model) const {
  return static_cast<size_t>(
      std::count_if(ids_.begin(), ids_.end(), [&](const auto& entry) { return !model.token_to_id(entry.first); }));
}

std::vector<AddedToken> read_added_tokens(const nlohmann::json& list) {
  std::vector<AddedToken> tokens;
  for (const auto& entry : list) {
    tokens.push_back({.content = field<std::string>(entry, "content"),
                      .single_word = field<bool>(entry, "single_word"),
                      .lstrip = field<bool>(entry, "lstrip"),
                      .rstrip = field<bool>(entry, "rstrip"),
                      .normalized = field<bool>(entry, "normalized"),
                      .special = field<bool>(entry, "special")});
  }
  return tokens;
}

}  // namespace transformers::tokenizers
