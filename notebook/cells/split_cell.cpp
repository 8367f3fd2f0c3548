#include "notebook/cells/split_cell.h"

#include <algorithm>
#include <array>

#include "notebook/cells/declared_names.h"

namespace accelerate::notebook {

namespace {

constexpr std::array<std::string_view, 7> kControl = {"for", "while", "if", "do", "switch", "try", "{"};

// The last one ends a member's value: A::A() : size{0} {}
constexpr std::array<std::string_view, 7> kBeforeBody = {")", "const", "noexcept", "override", "final", "mutable", "}"};

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

  /// Whether a class is defined here: what follows it, up to the semicolon, belongs to it.
  bool is_type() const {
    auto is_specifier = [](const Token& token) { return is_one_of(token.text, kSpecifiers); };
    auto word = std::find_if_not(current_.begin(), current_.end(), is_specifier);
    return word != current_.end() && (is_one_of(word->text, kTypes) || word->text == "typedef");
  }

  /// Whether a chunk ends with this sign, which is the last one of `current_`.
  bool ends_chunk(std::string_view sign) {
    if (sign == "(" || sign == "[" || sign == "{") ++depth_;
    if (sign == ")" || sign == "]" || sign == "}") --depth_;
    if (depth_ > 0) return false;
    depth_ = 0;
    auto following = next_ < tokens_.size() ? tokens_[next_].text : std::string_view();
    bool goes_on = is_control() && (following == "else" || following == "catch");
    if (sign == ";") return !goes_on && (first() != "do" || ends_loop());
    if (sign != "}" || goes_on || first() == "do" || is_type()) return false;
    if (is_control()) return true;
    // After the body of a function something new begins; after T{1} an expression goes on with an operator, or ends.
    bool operator_follows = next_ < tokens_.size() && tokens_[next_].kind == TokenKind::Punctuation;
    if (next_ < tokens_.size() && !operator_follows) return !ends_requirements();
    return following != ";" && ends_body();
  }

  /// The place of the bracket that the one at `close` closes.
  size_t opening_of(size_t close) const {
    int depth = 0;
    for (size_t at = close + 1; at-- > 0;) {
      auto sign = current_[at].kind == TokenKind::Punctuation ? current_[at].text : std::string_view();
      if (sign == ")" || sign == "]" || sign == "}") ++depth;
      if ((sign == "(" || sign == "[" || sign == "{") && --depth == 0) return at;
    }
    return 0;
  }

  /// Whether `word` stands before the parentheses that end before `end`.
  bool follows_call_of(std::string_view word, size_t end) const {
    if (end == 0 || current_[end - 1].text != ")") return false;
    auto open = opening_of(end - 1);
    return open > 0 && current_[open - 1].text == word;
  }

  /// do ++x; while (x < 3);
  bool ends_loop() const { return follows_call_of("while", current_.size() - 1); }

  /// requires(T t) { t.f(); }
  bool ends_requirements() const {
    auto open = opening_of(current_.size() - 1);
    return open > 0 && (current_[open - 1].text == "requires" || follows_call_of("requires", open));
  }

  /// Whether the braces that end here are those of a function or namespace, and not of a value.
  bool ends_body() const {
    auto open = opening_of(current_.size() - 1);
    if (open == 0) return true;
    if (ends_requirements() || has_value_before(open)) return false;
    auto before = current_[open - 1].text;
    bool block = first() == "namespace" || first() == "extern" || current_[1].text == "namespace";
    bool constrained = first() == "template" && before == ">";
    return block || constrained || is_one_of(before, kBeforeBody) || names_type_before(open);
  }

  /// Whether what stands before `end`, outside of all brackets, is a value: it is assigned, or a lambda.
  bool has_value_before(size_t end) const {
    std::vector<Token> outside;
    int depth = 0;
    int num_template_brackets = 0;
    for (size_t i = 0; i < end; ++i) {
      auto sign = current_[i].text;
      if (first() == "template" && sign == "<") ++num_template_brackets;
      if (first() == "template" && sign == ">") --num_template_brackets;
      if (sign == ")" || sign == "}") --depth;
      if (depth == 0 && num_template_brackets <= 0) outside.push_back(current_[i]);
      if (sign == "(" || sign == "{") ++depth;
    }
    auto is = [](std::string_view text) { return [=](const Token& token) { return token.text == text; }; };
    if (std::any_of(outside.begin(), outside.end(), is("operator"))) return false;
    return std::any_of(outside.begin(), outside.end(), is("=")) || has_lambda(outside);
  }

  /// auto f() -> int { ... }
  bool names_type_before(size_t end) const {
    for (size_t i = 1; i < end; ++i) {
      if (current_[i].text == "->" && is_one_of(current_[i - 1].text, kBeforeBody)) return true;
    }
    return false;
  }

  ChunkKind kind_of_rest() const {
    if (is_control()) return ChunkKind::Control;
    bool declares = is_type() || first() == "template" || first() == "using" || declares_variable();
    return declares ? ChunkKind::Statement : ChunkKind::Expression;
  }

  /// Whether there is a declaration whose semicolon was forgotten. In a * b(3) the name does not follow a type.
  bool declares_variable() const {
    auto names = declared_names(current_);
    if (names.empty() || first() == "auto") return !names.empty();
    for (size_t i = 1; i < current_.size(); ++i) {
      if (current_[i].text != names.front()) continue;
      bool assigned = i + 1 < current_.size() && current_[i + 1].text == "=";
      return assigned || current_[i - 1].kind == TokenKind::Word || current_[i - 1].text == ">";
    }
    return false;
  }

  void finish(ChunkKind kind) {
    const auto& last = current_.back().text;
    auto end = static_cast<size_t>(last.data() + last.size() - cell_.data());
    auto text = cell_.substr(begin_, end - begin_);
    auto line_begin = begin_ == 0 ? std::string_view::npos : cell_.rfind('\n', begin_ - 1);
    auto column = static_cast<int>(begin_ - (line_begin == std::string_view::npos ? 0 : line_begin + 1)) + 1;
    chunks_.push_back({kind, text, std::move(current_), line_, column});
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
