#include "transformers/tokenizers/tokenizer.h"

#include <array>

#include "accelerate/base/cpu.h"
#include "accelerate/base/error.h"
#include "accelerate/base/parallel_for.h"
#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/models/bpe.h"
#include "transformers/tokenizers/text/unicode.h"
#include "transformers/tokenizers/tokenizer_parts.h"

namespace transformers::tokenizers {

using accelerate::character_bytes;
using accelerate::find_broken_utf8;
using accelerate::first_character;
using accelerate::is_ascii;
using accelerate::is_utf8_continuation;
using accelerate::last_character;

using accelerate::fail;

namespace {

constexpr size_t kMaxBytes = 1 << 30;   // of a text: what it becomes must be countable in 32 bits
constexpr size_t kKeptBytes = 1 << 20;  // a longer text leaves no memory behind for the next one

/// White space at the ends of a token. The visible space of byte-level models counts as white space.
Encoding::Spaces count_spaces(std::string_view token) {
  constexpr char32_t kByteLevelSpace = 0x120;
  auto is_space = [](char32_t character) { return character == kByteLevelSpace || is_white_space(character); };
  Encoding::Spaces spaces;
  for (auto rest = token; !rest.empty() && is_space(first_character(rest)); ++spaces.leading) {
    rest.remove_prefix(character_bytes(rest[0]));
  }
  for (auto rest = token; !rest.empty() && is_space(last_character(rest)); ++spaces.trailing) {
    while (is_utf8_continuation(rest.back())) rest.remove_suffix(1);
    rest.remove_suffix(1);
  }
  return spaces;
}

/// For each byte of a text, and one past the end: how many characters begin before it.
void count_characters_before(std::string_view text, std::vector<uint32_t>& counts) {
  counts.resize(text.size() + 1);
  uint32_t count = 0;
  for (size_t index = 0; index < text.size(); ++index) {
    count += !is_utf8_continuation(text[index]);
    counts[index] = count - 1;
  }
  counts[text.size()] = count;
}

/// Sets the sequence of the tokens of a pair. With a post-processor it is set in the overflowing windows and for a
/// single text too; without one the `tokenizers` package leaves those unset.
void number_texts(std::vector<Encoding>& encodings, bool with_windows) {
  if (encodings.size() == 1 && !with_windows) return;
  for (size_t index = 0; index < encodings.size(); ++index) {
    encodings[index].set_sequence(index);
    if (!with_windows) continue;
    for (auto& window : encodings[index].overflowing) window.set_sequence(index);
  }
}

}  // namespace

/// Reusable scratch memory for encoding.
struct Tokenizer::Workspace {
  Pieces pieces;
  NormalizedText part;
  std::vector<Token> tokens;
  std::vector<size_t> token_ends;  // for each piece, how many tokens there are up to its end
  std::vector<uint32_t> characters_before;
};

Encoding Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<Encoding> encodings;
  encodings.push_back(encode_texts(std::array{text}, options.add_special_tokens));
  if (padding_) pad(encodings, *padding_);
  return std::move(encodings.front());
}

Encoding Tokenizer::encode(std::string_view text, std::string_view pair, const EncodeOptions& options) const {
  std::vector<Encoding> encodings;
  encodings.push_back(encode_texts(std::array{text, pair}, options.add_special_tokens));
  if (padding_) pad(encodings, *padding_);
  return std::move(encodings.front());
}

std::vector<Encoding> Tokenizer::encode_batch(const std::vector<std::string>& texts,
                                              const EncodeBatchOptions& options) const {
  return encode_many(texts.size(), options,
                     [&](size_t index) { return std::array<std::string_view, 1>{texts[index]}; });
}

std::vector<Encoding> Tokenizer::encode_batch(const std::vector<std::pair<std::string, std::string>>& pairs,
                                              const EncodeBatchOptions& options) const {
  return encode_many(pairs.size(), options, [&](size_t index) {
    return std::array<std::string_view, 2>{pairs[index].first, pairs[index].second};
  });
}

template <class TextsOf>
std::vector<Encoding> Tokenizer::encode_many(size_t count, const EncodeBatchOptions& options,
                                             const TextsOf& texts_of) const {
  std::vector<Encoding> encodings(count);
  auto encode_one = [&](size_t index) {
    try {
      encodings[index] = encode_texts(texts_of(index), options.add_special_tokens);
    } catch (const accelerate::Error& error) {
      fail("text ", options.first_text + index, ": ", error.what());
    }
  };
  // Few enough texts at a time to balance the threads, enough not to contend for the counter.
  accelerate::parallel_for(count, options.threads > 0 ? options.threads : accelerate::available_cores(), encode_one,
                           /*chunk=*/16);
  if (padding_) pad(encodings, *padding_);
  return encodings;
}

/// One text, or a pair of them, with special tokens but without padding.
Encoding Tokenizer::encode_texts(std::span<const std::string_view> texts, bool add_special_tokens) const {
  thread_local std::optional<Workspace> workspace;
  if (!workspace) workspace.emplace();
  std::vector<Encoding> encodings;
  encodings.reserve(texts.size());
  for (auto text : texts) {
    encodings.push_back(encode_text(text, static_cast<uint32_t>(encodings.size()), *workspace));
  }
  if (workspace->pieces.text.text().size() > kKeptBytes) workspace.reset();
  const auto* processor = parts_->post_processor.get();
  if (truncation_) {
    TruncationOptions options = *truncation_;
    size_t added = processor != nullptr && add_special_tokens ? processor->added_tokens(texts.size() == 2) : 0;
    if (added > options.max_length) {
      fail("truncation: max_length is ", options.max_length, ", but there are already ", added, " special tokens");
    }
    options.max_length -= added;
    truncate(encodings, options);
  }
  number_texts(encodings, /*with_windows=*/processor != nullptr);
  if (processor != nullptr) processor->process(encodings, add_special_tokens);
  for (size_t index = 1; index < encodings.size(); ++index) encodings[0].append(encodings[index]);
  return std::move(encodings[0]);
}

Encoding Tokenizer::encode_text(std::string_view text, uint32_t type_id, Workspace& workspace) const {
  if (text.size() > kMaxBytes) fail("a text has ", text.size(), " bytes; a tokenizer takes up to ", kMaxBytes);
  if (auto broken = find_broken_utf8(text)) fail("the text is not UTF-8 at byte ", *broken);

  auto& [pieces, part, tokens, token_ends, characters_before] = workspace;
  parts_->added_tokens.extract(text, parts_->normalizer.get(), pieces, part);
  if (parts_->pre_tokenizer) parts_->pre_tokenizer->pre_tokenize(pieces);
  try {
    cut(pieces, tokens, token_ends);
  } catch (const accelerate::Error& error) {
    fail(parts_->source, ": ", error.what());
  }

  bool needs_spaces = parts_->post_processor && parts_->post_processor->needs_spaces();
  bool one_byte_each = is_ascii(text);
  if (!one_byte_each) count_characters_before(text, characters_before);
  auto encoding = Encoding::of_text(tokens.size(), type_id);
  size_t index = 0;
  for (size_t word = 0; word < pieces.list.size(); ++word) {
    const Piece& piece = pieces.list[word];
    bool is_added = piece.token != Piece::kText;
    for (; index < token_ends[word]; ++index) {
      Span span = pieces.text.origin(tokens[index].begin, tokens[index].end);
      encoding.ids[index] = tokens[index].id;
      encoding.offsets[index] = one_byte_each ? std::pair(span.begin, span.end)
                                              : std::pair(characters_before[span.begin], characters_before[span.end]);
      encoding.word_ids[index] = static_cast<int32_t>(word);
      if (needs_spaces) {
        encoding.spaces[index] = count_spaces(is_added ? pieces[piece] : *id_to_token(tokens[index].id));
      }
    }
  }
  return encoding;
}

/// Tokenises each piece; the offsets of tokens are those in the whole text. `token_ends` gets the number of tokens up
/// to the end of each piece.
void Tokenizer::cut(const Pieces& pieces, std::vector<Token>& tokens, std::vector<size_t>& token_ends) const {
  tokens.clear();
  token_ends.clear();
  for (const auto& piece : pieces.list) {
    size_t first = tokens.size();
    if (piece.token != Piece::kText) {
      tokens.push_back({piece.token, 0, piece.end - piece.begin});
    } else {
      parts_->model->tokenize(pieces[piece], tokens);
    }
    for (size_t index = first; index < tokens.size(); ++index) {
      tokens[index].begin += piece.begin;
      tokens[index].end += piece.begin;
    }
    token_ends.push_back(tokens.size());
  }
}

std::string Tokenizer::decode(std::span<const uint32_t> ids, bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (uint32_t id : ids) {
    if (skip_special_tokens && parts_->added_tokens.is_special(id)) continue;
    if (const auto* token = id_to_token(id)) tokens.push_back(*token);
  }
  std::string_view separator = parts_->decoder ? "" : " ";
  if (parts_->decoder) tokens = parts_->decoder->decode_chain(std::move(tokens));
  std::string text;
  for (const auto& token : tokens) text.append(&token == &tokens.front() ? "" : separator).append(token);
  return text;
}

std::vector<std::string> Tokenizer::tokens(const Encoding& encoding) const {
  std::vector<std::string> result;
  result.reserve(encoding.size());
  for (uint32_t id : encoding.ids) {
    const auto* token = id_to_token(id);
    result.push_back(token != nullptr ? *token : "");
  }
  return result;
}

std::optional<uint32_t> Tokenizer::token_to_id(std::string_view token) const {
  auto added = parts_->added_tokens.find(token);
  return added ? added : parts_->model->token_to_id(token);
}

const std::string* Tokenizer::id_to_token(uint32_t id) const {
  const auto* added = parts_->added_tokens.text(id);
  return added != nullptr ? added : parts_->model->id_to_token(id);
}

size_t Tokenizer::vocab_size(bool with_added_tokens) const {
  return parts_->model->vocab_size() + (with_added_tokens ? parts_->added_tokens.num_beyond(*parts_->model) : 0);
}

bool Tokenizer::is_bpe() const { return dynamic_cast<const Bpe*>(parts_->model.get()) != nullptr; }

void Tokenizer::enable_truncation(const TruncationOptions& options) {
  size_t added = parts_->post_processor ? parts_->post_processor->added_tokens(/*is_pair=*/false) : 0;
  if (options.max_length < added + options.stride) {
    fail("truncation: max_length is ", options.max_length, ", too small for ", added,
         " special tokens and a stride of ", options.stride);
  }
  truncation_ = options;
}

}  // namespace transformers::tokenizers
