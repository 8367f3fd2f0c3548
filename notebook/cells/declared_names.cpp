#include "notebook/cells/declared_names.h"

#include <algorithm>
#include <array>

namespace accelerate::notebook {

namespace {

using Names = std::vector<std::string>;

constexpr std::array<std::string_view, 12> kNoDeclaration = {"namespace", "extern", "return",        "throw",
                                                             "delete",    "new",    "co_await",      "goto",
                                                             "operator",  "using",  "static_assert", "friend"};

/// Reads the head of a declaration from left to right.
class Reader {
 public:
  explicit Reader(const std::vector<Token>& tokens) : tokens_(tokens) {}

  Names names() {
    skip_attributes();
    while (is("template")) {
      ++at_;
      skip_brackets("<", ">");
      skip_constraint();
    }
    while (at_ < tokens_.size() && is_one_of(text(), kSpecifiers)) ++at_;
    skip_attributes();
    if (is("using")) return is("=", 2) ? Names{std::string(text(1))} : Names{};
    if (is("concept")) return {std::string(text(1))};
    if (is("typedef")) return {last_word()};
    if (at_ < tokens_.size() && is_one_of(text(), kTypes)) return type_name();
    if (at_ >= tokens_.size() || is_one_of(text(), kNoDeclaration)) return {};
    if (makes_class()) return {std::string(text(2))};
    return declarators();
  }

 private:
  std::string_view text(size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text : std::string_view();
  }
  bool is(std::string_view word, size_t ahead = 0) const { return text(ahead) == word; }
  bool is_word(size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() && tokens_[at_ + ahead].kind == TokenKind::Word;
  }

  void skip_attributes() {
    for (;;) {
      if (is("[") && is("[", 1)) {
        skip_brackets("[", "]");
      } else if (is("alignas")) {
        skip_brackets("(", ")");
      } else {
        return;
      }
    }
  }

  /// requires A<T> && (B<T> || requires(T t) { t.c(); })
  void skip_constraint() {
    if (!is("requires")) return;
    do {
      ++at_;
      if (is("&") || is("|")) ++at_;
      if (is("requires")) {
        if (is("(", 1)) skip_brackets("(", ")");
        skip_brackets("{", "}");
      } else if (is("(")) {
        skip_brackets("(", ")");
      } else {
        skip_qualified_name();
      }
    } while ((is("&") && is("&", 1)) || (is("|") && is("|", 1)));
  }

  void skip_qualified_name() {
    do {
      if (is("::")) ++at_;
      ++at_;
      if (is("<")) skip_brackets("<", ">");
    } while (is("::"));
  }

  /// Steps behind the bracket that closes the one here.
  void skip_brackets(std::string_view open, std::string_view close) {
    int depth = 0;
    for (; at_ < tokens_.size(); ++at_) {
      if (is(open)) ++depth;
      if (is(close) && --depth == 0) {
        ++at_;
        return;
      }
    }
  }

  std::string last_word() const {
    for (size_t i = tokens_.size(); i-- > 0;) {
      if (tokens_[i].kind == TokenKind::Word) return std::string(tokens_[i].text);
    }
    return {};
  }

  Names type_name() {
    bool enumerators = is("enum");
    ++at_;
    if (is("class") || is("struct")) {
      enumerators = false;
      ++at_;
    }
    skip_attributes();
    bool elsewhere = is("<", 1) || is("::", 1);  // stays with the template that it specializes, or in its class
    Names names;
    if (is_word() && !elsewhere) names.emplace_back(text());
    if (enumerators) add_enumerators(names);
    return names;
  }

  void add_enumerators(Names& names) {
    int depth = 0;
    for (; at_ < tokens_.size(); ++at_) {
      if (is("(") || is("{")) ++depth;
      if (is(")") || is("}")) --depth;
      if (depth == 1 && (is("{") || is(",")) && is_word(1)) names.emplace_back(text(1));
    }
  }

  /// TORCH_MODULE(Net) or TORCH_MODULE_IMPL(Net, NetImpl).
  bool makes_class() const { return (is("TORCH_MODULE") || is("TORCH_MODULE_IMPL")) && is("(", 1) && is_word(2); }

  /// `type name`, followed by what may follow a name; then the other names after commas.
  Names declarators() {
    int num_parts = 0;  // of type and name
    bool qualified = false;
    std::string_view last;
    while (at_ < tokens_.size()) {
      if (is("operator")) return {};
      if (is_word()) {
        last = text();
        qualified = num_parts > 0 && at_ > 0 && tokens_[at_ - 1].text == "::";
        if (!qualified) ++num_parts;
        if (is("decltype")) {
          skip_brackets("(", ")");
        } else {
          ++at_;
        }
      } else if (is("<") && !last.empty() && !is("<", 1)) {
        skip_brackets("<", ">");
      } else if (is("::") || is("*") || is("&")) {
        ++at_;
      } else {
        break;
      }
    }
    if (is("[") && num_parts == 1 && last == "auto") return binding();
    if (is("(") && is("*", 1) && is_word(2) && is(")", 3)) return pointer_to_function();
    bool named = num_parts >= 2 && !qualified && tokens_[at_ - 1].kind == TokenKind::Word;
    bool assigned = is("=") && !is("=", 1);
    bool follows = is("(") || assigned || is("{") || is(";") || is("[") || is(",") || is(":");
    if (!named || !follows) return {};
    Names names = {std::string(last)};
    add_names_after_commas(names);
    return names;
  }

  /// int (*name)(int) = f; without a value it could be a call.
  Names pointer_to_function() {
    auto name = std::string(text(2));
    at_ += 4;
    if (!is("(")) return {};
    skip_brackets("(", ")");
    return is("=") && !is("=", 1) ? Names{name} : Names{};
  }

  Names binding() {
    Names names;
    for (++at_; at_ < tokens_.size() && !is("]"); ++at_) {
      if (is_word()) names.emplace_back(text());
    }
    return is("=", 1) || is("{", 1) || is("(", 1) ? names : Names{};
  }

  void add_names_after_commas(Names& names) {
    int depth = 0;
    for (; at_ < tokens_.size(); ++at_) {
      if (is("(") || is("{") || is("[")) ++depth;
      if (is(")") || is("}") || is("]")) --depth;
      if (depth > 0 || !is(",")) continue;
      while (is("*", 1) || is("&", 1)) ++at_;
      bool declarator =
          is_word(1) && (is("=", 2) || is("{", 2) || is("(", 2) || is("[", 2) || is(",", 2) || is(";", 2));
      if (declarator) names.emplace_back(text(1));
    }
  }

  const std::vector<Token>& tokens_;
  size_t at_ = 0;
};

}  // namespace

std::vector<std::string> declared_names(const std::vector<Token>& tokens) { return Reader(tokens).names(); }

std::optional<size_t> body_of_function(const std::string& name, const std::vector<Token>& tokens) {
  auto named = std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) { return token.text == name; });
  auto begin = static_cast<size_t>(named - tokens.begin()) + 1;
  if (begin >= tokens.size() || tokens[begin].text != "(") return std::nullopt;
  std::optional<size_t> body;
  int depth = 0;
  for (size_t i = begin; i < tokens.size(); ++i) {
    auto word = tokens[i].text;
    if (word == "{" && depth == 0) {
      if (body || tokens[i - 1].text == "try") return std::nullopt;  // the first one is something else
      body = i;
    }
    if (word == "(" || word == "{") ++depth;
    if (word == ")" || word == "}") --depth;
  }
  return tokens.back().text == "}" ? body : std::nullopt;
}

bool defines_member_of(const std::vector<std::string>& classes, const std::vector<Token>& tokens) {
  if (is_one_of(tokens.front().text, kNoDeclaration)) return false;
  bool has_body = tokens.back().text == "}";
  int num_open = 0;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    auto word = tokens[i].text;
    if (word == "(" || word == "{" || word == "=") return false;
    if (word == "<") ++num_open;
    if (word == ">") --num_open;
    bool qualifies = tokens[i + 1].text == "::" || tokens[i + 1].text == "<";
    if (!qualifies || std::find(classes.begin(), classes.end(), word) == classes.end()) continue;
    // Without a body it is that of a static variable, behind its type; in std::cout << A::size there is none.
    bool follows_type = i > 0 && num_open == 0 && (tokens[i - 1].kind == TokenKind::Word || tokens[i - 1].text == ">");
    return has_body || follows_type;
  }
  return false;
}

bool has_lambda(const std::vector<Token>& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    bool attribute = i + 1 < tokens.size() && tokens[i + 1].text == "[";
    if (tokens[i].text != "[" || attribute) continue;
    if (i == 0 || tokens[i - 1].text == "return") return true;
    // After a name or a closing bracket it is an index.
    bool index = tokens[i - 1].kind != TokenKind::Punctuation || tokens[i - 1].text == ")" ||
                 tokens[i - 1].text == "]" || tokens[i - 1].text == "[";
    if (!index) return true;
  }
  return false;
}

}  // namespace accelerate::notebook
