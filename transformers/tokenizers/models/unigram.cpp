#include "transformers/tokenizers/models/unigram.h"

#include <algorithm>
#include <limits>

#include "accelerate/base/error.h"
#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/models/token_cache.h"
#include "transformers/tokenizers/models/vocabulary.h"

namespace transformers::tokenizers {

using accelerate::character_bytes;

using accelerate::fail;

namespace {

constexpr double kUnknownPenalty = 10;
constexpr uint32_t kNoId = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kUnreached = std::numeric_limits<uint32_t>::max();

}  // namespace

/// The last token of the best segmentation up to a position.
struct Unigram::Step {
  double score = 0;  // of the whole way
  uint32_t begin = kUnreached;
  uint32_t id = 0;
};

Unigram::Unigram(std::vector<std::pair<std::string, double>> entries, std::optional<uint32_t> unk_id,
                 bool byte_fallback)
    : unk_id_(unk_id), cache_owner_(TokenCache::next_owner()) {
  if (unk_id && *unk_id >= entries.size()) {
    fail("Unigram: 'unk_id' is ", *unk_id, ", but the vocabulary has ", entries.size(), " entries");
  }
  double lowest = std::numeric_limits<double>::infinity();
  std::vector<std::pair<std::string_view, uint32_t>> texts;
  for (const auto& [text, score] : entries) {
    if (!text.empty()) texts.emplace_back(text, static_cast<uint32_t>(scores_.size()));
    scores_.push_back(score);
    lowest = std::min(lowest, score);
  }
  unk_score_ = lowest - kUnknownPenalty;
  trie_ = PrefixTrie(std::move(texts));

  std::vector<std::pair<std::string, uint32_t>> ids;
  for (auto& entry : entries) ids.emplace_back(std::move(entry.first), static_cast<uint32_t>(ids.size()));
  vocabulary_ = Vocabulary(std::move(ids));
  if (byte_fallback) byte_ids_ = find_byte_tokens(vocabulary_);
}

void Unigram::tokenize(std::string_view piece, std::vector<Token>& tokens) const {
  if (piece.empty()) return;
  auto& cache = TokenCache::of_this_thread();
  if (cache.find(cache_owner_, piece, tokens)) return;

  thread_local std::vector<Step> steps;
  find_best_path(piece, steps);
  size_t first = tokens.size();
  // From the end to the start; neighbouring unknown characters are one token.
  for (auto end = static_cast<uint32_t>(piece.size()); end > 0;) {
    uint32_t begin = steps[end].begin;
    if (steps[end].id == unk_id_) {
      while (begin > 0 && steps[begin].id == unk_id_) begin = steps[begin].begin;
      add_unknown(piece, begin, end, tokens);
    } else {
      tokens.push_back({steps[end].id, begin, end});
    }
    end = begin;
  }
  std::reverse(tokens.begin() + first, tokens.end());
  cache.store(cache_owner_, piece, tokens, first);
}

void Unigram::find_best_path(std::string_view piece, std::vector<Step>& steps) const {
  steps.assign(piece.size() + 1, Step());
  for (uint32_t begin = 0; begin < piece.size();) {
    auto character = static_cast<uint32_t>(character_bytes(piece[begin]));
    double before = steps[begin].score;
    bool character_found = false;
    auto offer = [&](uint32_t length, uint32_t id, double score) {
      Step& step = steps[begin + length];
      if (step.begin == kUnreached || score > step.score) step = {score, begin, id};
    };
    trie_.for_each_prefix(piece.substr(begin), [&](size_t length, uint32_t id) {
      offer(static_cast<uint32_t>(length), id, scores_[id] + before);
      character_found = character_found || length == character;
    });
    if (!character_found) offer(character, unk_id_.value_or(kNoId), unk_score_ + before);
    if (steps[begin + character].id == kNoId) {
      fail("Unigram: '", piece.substr(begin, character), "' is not in the vocabulary, and there is no 'unk_id'");
    }
    begin += character;
  }
}

void Unigram::add_unknown(std::string_view piece, uint32_t begin, uint32_t end, std::vector<Token>& tokens) const {
  std::string_view text = piece.substr(begin, end - begin);
  if (auto id = vocabulary_.find(text)) {
    tokens.push_back({*id, begin, end});
    return;
  }
  auto missing = [&](char byte) { return !byte_ids_[static_cast<unsigned char>(byte)]; };
  if (byte_ids_.empty() || std::any_of(text.begin(), text.end(), missing)) {
    tokens.push_back({*unk_id_, begin, end});
    return;
  }
  // The caller goes from the end to the start.
  for (size_t i = text.size(); i-- > 0;) {
    tokens.push_back({*byte_ids_[static_cast<unsigned char>(text[i])], begin, end});
  }
}

std::unique_ptr<Model> read_unigram(const nlohmann::json& description) {
  std::vector<std::pair<std::string, double>> entries;
  for (const auto& entry : list_field(description, "vocab")) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
      fail("Unigram: entry ", entries.size(), " of 'vocab' is ", entry.dump(), "; it must be a string and its score");
    }
    entries.emplace_back(entry[0].get<std::string>(), entry[1].get<double>());
  }
  return std::make_unique<Unigram>(std::move(entries), optional_field<uint32_t>(description, "unk_id"),
                                   field_or(description, "byte_fallback", false));
}

}  // namespace transformers::tokenizers
