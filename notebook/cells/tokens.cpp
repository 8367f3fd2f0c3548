#include "notebook/cells/tokens.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace accelerate::notebook {

namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Scans the code. Each `end_of` function returns the end of an element that begins at `begin`.
class Scanner {
 public:
  explicit Scanner(std::string_view code) : code_(code) {}

  TokenList scan() {
    size_t at = 0;
    bool line_begins = true;
    while (at < code_.size()) {
      if (is_space(code_[at])) {
        line_begins |= code_[at++] == '\n';
      } else if (starts("//", at)) {
        at = std::min(code_.find('\n', at), code_.size());
      } else if (starts("/*", at)) {
        at = end_after("*/", at + 2);
      } else {
        at = add_token(at, line_begins);
        line_begins = false;
      }
    }
    return std::move(list_);
  }

 private:
  size_t add_token(size_t at, bool line_begins) {
    char c = code_[at];
    if (c == '#' && line_begins) return add(TokenKind::Directive, at, end_of_directive(at));
    if (c == '"' || c == '\'') return add(TokenKind::Literal, at, end_of_quoted(at));
    if (in_word(c)) {
      size_t end = end_of_word(at);
      bool quoted = end < code_.size() && (code_[end] == '"' || code_[end] == '\'') && is_prefix(at, end);
      if (!quoted) return add(TokenKind::Word, at, end);
      bool raw = code_[end - 1] == 'R';
      return add(TokenKind::Literal, at, raw ? end_of_raw(end) : end_of_quoted(end));
    }
    return add(TokenKind::Punctuation, at, at + (starts("::", at) || starts("->", at) ? 2 : 1));
  }

  size_t add(TokenKind kind, size_t begin, size_t end) {
    list_.tokens.push_back({kind, code_.substr(begin, end - begin)});
    return end;
  }

  bool starts(std::string_view with, size_t at) const { return code_.substr(at, with.size()) == with; }

  /// The end of the next `close`; the end of the code when there is none.
  size_t end_after(std::string_view close, size_t from) {
    size_t found = from <= code_.size() ? code_.find(close, from) : std::string_view::npos;
    if (found != std::string_view::npos) return found + close.size();
    list_.unfinished = true;
    return code_.size();
  }

  size_t end_of_directive(size_t at) const {
    while (at < code_.size() && (code_[at] != '\n' || code_[at - 1] == '\\')) ++at;
    return at;
  }

  size_t end_of_word(size_t begin) const {
    size_t at = begin;
    // In 1'000 the quote belongs to the number.
    auto separates = [&] {
      return code_[at] == '\'' && is_digit(code_[begin]) && at + 1 < code_.size() && in_word(code_[at + 1]);
    };
    while (at < code_.size() && (in_word(code_[at]) || separates())) ++at;
    return at;
  }

  bool is_prefix(size_t begin, size_t end) const {
    auto word = code_.substr(begin, end - begin);
    if (word.ends_with('R') && code_[end] == '"') word.remove_suffix(1);
    return word.empty() || word == "L" || word == "u" || word == "U" || word == "u8";
  }

  size_t end_of_quoted(size_t quote) {
    size_t at = quote + 1;
    while (at < code_.size() && code_[at] != code_[quote] && code_[at] != '\n') at += code_[at] == '\\' ? 2 : 1;
    if (at >= code_.size() || code_[at] == '\n') {
      list_.unfinished = true;
      return std::min(at, code_.size());
    }
    return end_of_word(at + 1);  // "text"s has a suffix
  }

  size_t end_of_raw(size_t quote) {
    size_t open = code_.find('(', quote);
    if (open == std::string_view::npos) return end_after("(", quote);
    return end_after(")" + std::string(code_.substr(quote + 1, open - quote - 1)) + "\"", open);
  }

  std::string_view code_;
  TokenList list_;
};

}  // namespace

TokenList tokens_of(std::string_view code) { return Scanner(code).scan(); }

std::optional<Token> unclosed_bracket(std::string_view code) {
  constexpr std::string_view kOpening = "([{", kClosing = ")]}";
  std::vector<Token> open;
  for (const auto& token : tokens_of(code).tokens) {
    if (token.kind != TokenKind::Punctuation) continue;
    if (kOpening.find(token.text) != std::string_view::npos) open.push_back(token);
    auto closing = kClosing.find(token.text);
    if (closing == std::string_view::npos) continue;
    // One of another kind may be open by mistake, which the compiler tells better.
    auto opened =
        std::find_if(open.rbegin(), open.rend(), [&](const Token& one) { return one.text[0] == kOpening[closing]; });
    if (opened != open.rend()) open.erase(opened.base() - 1, open.end());
  }
  return open.empty() ? std::nullopt : std::optional(open.back());
}

bool is_balanced(std::string_view code) {
  auto list = tokens_of(code);
  int depth = 0;
  for (const auto& token : list.tokens) {
    if (token.kind != TokenKind::Punctuation) continue;
    if (token.text == "(" || token.text == "[" || token.text == "{") ++depth;
    if (token.text == ")" || token.text == "]" || token.text == "}") --depth;
  }
  return depth <= 0 && !list.unfinished;
}

}  // namespace accelerate::notebook
