#pragma once

// A simple C++ lexer for splitting a cell into statements. It distinguishes comments and literals from code, so that a
// brace in a string is not counted.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace accelerate::notebook {

enum class TokenKind { Word, Literal, Punctuation, Directive };

/// A name, keyword or number; a string or character literal; one punctuation character, `::` or `->`; or a whole
/// preprocessor line. `text` points into the code.
struct Token {
  TokenKind kind = TokenKind::Word;
  std::string_view text = {};
};

struct TokenList {
  std::vector<Token> tokens = {};
  bool unfinished = false;  // a comment or a string has no end
};

/// The tokens of `code`, without space and comments. Never fails: invalid C++ is not detected.
TokenList tokens_of(std::string_view code);

/// The innermost bracket that is not closed at the end of `code`. It points into the code.
std::optional<Token> unclosed_bracket(std::string_view code);

/// Whether all brackets and literals of `code` are closed, so that it may be complete.
bool is_balanced(std::string_view code);

/// Keywords that may precede the type of a declaration.
inline constexpr std::array<std::string_view, 9> kSpecifiers = {
    "static", "inline", "constexpr", "const", "constinit", "consteval", "thread_local", "volatile", "typename"};

/// Keywords that begin the declaration of a type.
inline constexpr std::array<std::string_view, 4> kTypes = {"struct", "class", "union", "enum"};

/// Whether `word` is in the list.
template <size_t N>
constexpr bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace accelerate::notebook
