#include "transformers/tokenizers/normalizers/normalizer.h"

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/base/base64.h"
#include "accelerate/base/error.h"
#include "accelerate/base/utf8.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/text/unicode.h"

namespace transformers::tokenizers {

using accelerate::character_bytes;
using accelerate::count_characters;
using accelerate::decode_base64;
using accelerate::find_broken_utf8;
using accelerate::is_utf8_continuation;

using accelerate::fail;

namespace {

/// The table of a SentencePiece model: a size, a trie of that many bytes (a double array of 32-bit units, as the
/// library Darts-clone lays them out), and the replacements, each ended by a zero, to which the trie's values point.
class ReplacementTable {
 public:
  explicit ReplacementTable(const std::string& bytes) {
    uint32_t trie_bytes = 0;
    if (bytes.size() >= sizeof(trie_bytes)) std::memcpy(&trie_bytes, bytes.data(), sizeof(trie_bytes));
    if (trie_bytes == 0 || trie_bytes % sizeof(uint32_t) != 0 || trie_bytes > bytes.size() - sizeof(trie_bytes)) {
      fail("Precompiled: 'precompiled_charsmap' has ", bytes.size(),
           " bytes, which do not contain a table of replacements");
    }
    units_.resize(trie_bytes / sizeof(uint32_t));
    std::memcpy(units_.data(), bytes.data() + sizeof(trie_bytes), trie_bytes);
    replacements_ = bytes.substr(sizeof(trie_bytes) + trie_bytes);
    if (find_broken_utf8(replacements_)) fail("Precompiled: the replacements in 'precompiled_charsmap' are not UTF-8");
  }

  /// What `text` becomes as a whole: the replacement of the shortest entry that it begins with.
  std::optional<std::string_view> find(std::string_view text) const {
    uint32_t position = child_offset(units_[0]);
    for (char character : text) {
      uint32_t byte = static_cast<unsigned char>(character);
      if (byte == 0) return std::nullopt;
      position ^= byte;
      if (position >= units_.size() || label(units_[position]) != byte) return std::nullopt;
      uint32_t unit = units_[position];
      position ^= child_offset(unit);
      if (has_value(unit)) return replacement(position);
    }
    return std::nullopt;
  }

 private:
  static uint32_t label(uint32_t unit) { return unit & (1u << 31 | 0xFF); }
  static bool has_value(uint32_t unit) { return unit >> 8 & 1; }
  static uint32_t child_offset(uint32_t unit) { return unit >> 10 << ((unit & 1 << 9) >> 6); }

  std::optional<std::string_view> replacement(uint32_t position) const {
    if (position >= units_.size()) return std::nullopt;
    size_t begin = units_[position] & ~(1u << 31);
    if (begin > replacements_.size() || (begin < replacements_.size() && is_utf8_continuation(replacements_[begin]))) {
      return std::nullopt;
    }
    return std::string_view(replacements_).substr(begin, replacements_.find('\0', begin) - begin);
  }

  std::vector<uint32_t> units_;
  std::string replacements_;
};

/// Writes the new text and counts the characters of the old one off against it, as the reference implementation does:
/// new characters stand for old ones one by one, surplus new ones for the last, and surplus old ones go with the last
/// new one. A removal before the first new character is forgotten, so that everything after it stands for a place too
/// far left.
class CountedRewrite {
 public:
  explicit CountedRewrite(NormalizedText& text) : rewrite_(text) {}

  void keep(std::string_view text) {
    if (in_step_ && text.size() > 1) {
      flush();
      size_t last = text.size() - 1;
      while (is_utf8_continuation(text[last])) --last;
      rewrite_.keep(last);
      text.remove_prefix(last);
    }
    for (; !text.empty(); text.remove_prefix(character_bytes(text[0]))) {
      write(text.substr(0, character_bytes(text[0])), 0);
    }
  }

  void replace(std::string_view old_text, std::string_view new_text) {
    auto old_count = static_cast<int64_t>(count_characters(old_text));
    auto new_count = static_cast<int64_t>(count_characters(new_text));
    for (int64_t i = 0; i < new_count; ++i) {
      size_t bytes = character_bytes(new_text[0]);
      write(new_text.substr(0, bytes), i < old_count ? 0 : 1);
      new_text.remove_prefix(bytes);
    }
    if (new_count >= old_count) return;
    if (waiting_.empty()) {
      in_step_ = false;
    } else {
      surplus_ -= old_count - new_count;
    }
  }

  void finish() {
    flush();
    rewrite_.remove(rewrite_.rest().size());
    rewrite_.finish();
  }

 private:
  /// `surplus` is 0 for a character that stands for an old one, 1 for one more, -n when n old ones after it go too.
  void write(std::string_view character, int64_t surplus) {
    flush();
    waiting_ = character;
    surplus_ = surplus;
  }

  void flush() {
    if (waiting_.empty()) return;
    if (surplus_ > 0) {
      rewrite_.insert(waiting_);
    } else {
      rewrite_.replace(character_bytes(rewrite_.rest()[0]), waiting_);
    }
    for (; surplus_ < 0; ++surplus_) rewrite_.remove(character_bytes(rewrite_.rest()[0]));
    waiting_ = {};
  }

  Rewrite rewrite_;
  std::string_view waiting_;  // the last new character, because what follows may still change its surplus
  int64_t surplus_ = 0;
  bool in_step_ = true;  // no removal was forgotten
};

class Precompiled : public Normalizer {
 public:
  explicit Precompiled(const std::string& bytes) : table_(bytes) {
    for (int character = 1; character < 127; ++character) {
      kept_[character] = !table_.find(std::string(1, static_cast<char>(character)));
    }
  }

  void normalize(NormalizedText& text) const override {
    std::string_view source = text.text();
    size_t kept = kept_bytes(source);
    if (kept == source.size()) return;
    CountedRewrite rewrite(text);
    for (std::string_view rest = source; !rest.empty();) {
      kept = kept_bytes(rest);
      rewrite.keep(rest.substr(0, kept));
      rest.remove_prefix(kept);
      if (rest.empty()) break;
      size_t bytes = grapheme_bytes(rest);
      normalize_grapheme(rest.substr(0, bytes), rewrite);
      rest.remove_prefix(bytes);
    }
    rewrite.finish();
  }

 private:
  static constexpr size_t kWholeGraphemeBytes = 6;  // longer graphemes are replaced by character only

  void normalize_grapheme(std::string_view grapheme, CountedRewrite& rewrite) const {
    if (grapheme.size() < kWholeGraphemeBytes) {
      if (auto whole = table_.find(grapheme)) return rewrite.replace(grapheme, *whole);
    }
    for (; !grapheme.empty(); grapheme.remove_prefix(character_bytes(grapheme[0]))) {
      std::string_view character = grapheme.substr(0, character_bytes(grapheme[0]));
      auto replacement = table_.find(character);
      replacement ? rewrite.replace(character, *replacement) : rewrite.keep(character);
    }
  }

  /// How many bytes at the start are ASCII that stays as it is: the usual case, without a look into the table. The last
  /// character before another is left to that one, since they may be one grapheme.
  size_t kept_bytes(std::string_view text) const {
    size_t count = 0;
    while (count < text.size() && kept_[static_cast<unsigned char>(text[count])]) ++count;
    if (count == text.size() || count == 0) return count;
    return static_cast<unsigned char>(text[count]) < 0x80 ? count : count - 1;
  }

  ReplacementTable table_;
  std::array<bool, 256> kept_ = {};
};

}  // namespace

std::unique_ptr<Normalizer> read_precompiled(const nlohmann::json& description) {
  auto bytes = decode_base64(field<std::string>(description, "precompiled_charsmap"));
  if (!bytes) fail("Precompiled: 'precompiled_charsmap' is not base64");
  return std::make_unique<Precompiled>(*bytes);
}

}  // namespace transformers::tokenizers
