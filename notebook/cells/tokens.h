#pragma once

// The tokens of C++ code, as far as cutting a cell into statements needs them: comments and literals are told apart
// from the rest, so that a brace in a string is none.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace accelerate::notebook {

enum class TokenKind { Word, Literal, Punctuation, Directive };

/// A name, keyword or number; a string or character; one sign, or one of the pairs `::` and `->`; or a whole line of
/// the preprocessor. `text` points into the code.
struct Token {
  TokenKind kind = TokenKind::Word;
  std::string_view text = {};
};

struct TokenList {
  std::vector<Token> tokens = {};
  bool unfinished = false;  // a comment or a string has no end
};

/// The tokens of `code`, without space and comments. Any text has tokens; what C++ would refuse is not noticed.
TokenList tokens_of(std::string_view code);

/// The bracket that is open at the end of `code`, if there is one: the innermost, which points into the code.
std::optional<Token> unclosed_bracket(std::string_view code);

/// Whether every bracket and literal that `code` opens is closed too, so that it may be complete.
bool is_balanced(std::string_view code);

/// What may stand before the type of a declaration.
inline constexpr std::array<std::string_view, 9> kSpecifiers = {
    "static", "inline", "constexpr", "const", "constinit", "consteval", "thread_local", "volatile", "typename"};

/// What a declaration of a type begins with.
inline constexpr std::array<std::string_view, 4> kTypes = {"struct", "class", "union", "enum"};

/// Whether `word` is in the list.
template <size_t N>
constexpr bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace accelerate::notebook
