#include "notebook/cells/split_cell.h"

#include <algorithm>
#include <array>

namespace accelerate::notebook {

namespace {

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 7> kControl = {"for", "while", "if", "do", "switch", "try", "{"};
constexpr std::array<std::string_view, 5> kTypes = {"struct", "class", "union", "enum", "typedef"};

constexpr std::array<std::string_view, 6> kBeforeBody = {")", "const", "noexcept", "override", "final", "mutable"};
constexpr std::array<std::string_view, 4> kBlocks = {"namespace", "extern", "inline", "template"};

class Splitter {
 public:
  explicit Splitter(std::string_view cell) : cell_(cell), tokens_(tokens_of(cell).tokens) {}

  std::vector<Chunk> split() {
    for (next_ = 0; next_ < tokens_.size();) {
      const auto& token = tokens_[next_++];
      current_.push_back(token);
      if (token.kind == TokenKind::Directive && depth_ == 0 && current_.size() == 1) {
        finish(ChunkKind::Directive);
      } else if (token.kind == TokenKind::Punctuation && ends_chunk(token.text)) {
        finish(is_control() ? ChunkKind::Control : ChunkKind::Statement);
      }
    }
    if (!current_.empty()) finish(kind_of_rest());
    return std::move(chunks_);
  }

 private:
  std::string_view first() const { return current_.front().text; }
  bool is_control() const { return is_one_of(first(), kControl); }

  /// Whether a chunk ends with this sign, which is the last one of `current_`.
  bool ends_chunk(std::string_view sign) {
    if (sign == "(" || sign == "[" || sign == "{") ++depth_;
    if (sign == ")" || sign == "]" || sign == "}") --depth_;
    if (depth_ > 0) return false;
    depth_ = 0;
    auto following = next_ < tokens_.size() ? tokens_[next_].text : std::string_view();
    bool goes_on = is_control() && (following == "else" || following == "catch");
    if (sign == ";") return !goes_on;
    if (sign != "}" || goes_on || first() == "do" || is_one_of(first(), kTypes)) return false;
    if (is_control()) return true;
    // After the body of a function something new begins; after T{1} an expression goes on with an operator, or ends.
    if (next_ == tokens_.size()) return ends_body();
    return tokens_[next_].kind != TokenKind::Punctuation || following == "::" || following == "~" || following == "{";
  }

  /// Whether the braces that end here are those of a function or namespace, and not of a value.
  bool ends_body() const {
    int depth = 0;
    size_t open = current_.size();
    while (open-- > 0) {
      if (current_[open].text == "}") ++depth;
      if (current_[open].text == "{" && --depth == 0) break;
    }
    if (open == 0) return true;
    auto before = current_[open - 1].text;
    auto is_arrow = [](const Token& token) { return token.text == "->"; };
    bool names_type = std::any_of(current_.begin(), current_.begin() + static_cast<long>(open), is_arrow);
    return is_one_of(before, kBeforeBody) || is_one_of(first(), kBlocks) || names_type;
  }

  ChunkKind kind_of_rest() const {
    if (is_control()) return ChunkKind::Control;
    return is_one_of(first(), kTypes) || first() == "template" ? ChunkKind::Statement : ChunkKind::Expression;
  }

  void finish(ChunkKind kind) {
    const auto& last = current_.back().text;
    auto end = static_cast<size_t>(last.data() + last.size() - cell_.data());
    auto text = cell_.substr(begin_, end - begin_);
    chunks_.push_back({kind, text, std::move(current_), line_});
    current_.clear();
    line_ += static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    begin_ = end;
  }

  std::string_view cell_;
  std::vector<Token> tokens_;
  size_t next_ = 0;  // the token after the last of `current_`
  std::vector<Token> current_;
  size_t begin_ = 0;
  int line_ = 1;
  int depth_ = 0;
  std::vector<Chunk> chunks_;
};

}  // namespace

std::vector<Chunk> split_cell(std::string_view cell) { return Splitter(cell).split(); }

}  // namespace accelerate::notebook
