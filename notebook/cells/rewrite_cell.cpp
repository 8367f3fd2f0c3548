#include "notebook/cells/rewrite_cell.h"

#include <algorithm>

#include "notebook/cells/declared_names.h"
#include "notebook/cells/split_cell.h"

namespace accelerate::notebook {

namespace {

std::string at_line(int line, int number) {
  return "\n#line " + std::to_string(line) + " \"In[" + std::to_string(number) + "]\"\n";
}

/// Collects chunks into units. Only redefinitions need one of their own.
class Rewriter {
 public:
  Rewriter(int number, int first_line, const IsKnown& is_known)
      : number_(number), first_line_(first_line), is_known_(is_known) {}

  void add(const Chunk& chunk) {
    std::string text(chunk.text);
    auto names = chunk.kind == ChunkKind::Statement ? declared_names(chunk.tokens) : std::vector<std::string>();
    switch (chunk.kind) {
      case ChunkKind::Directive:
        unit_.code += position(chunk) + text + "\n";
        return;
      case ChunkKind::Control:
        unit_.code += marker(chunk) + in_function(position(chunk) + text);
        return;
      case ChunkKind::Expression:
        // Not a call, which could not take an expression of type void.
        text = position(chunk) + "(" + text + "\n), ::accelerate::notebook::Shown{};";
        unit_.code += marker(chunk) + (has_lambda(chunk.tokens) ? in_function(text) : text);
        return;
      case ChunkKind::Statement:
        break;
    }
    if (std::any_of(names.begin(), names.end(), is_known_)) {
      add_redefinition(chunk, names);
    } else if (names.empty() && has_lambda(chunk.tokens) && !is_declaration(chunk)) {
      unit_.code += marker(chunk) + in_function(position(chunk) + text);
    } else {
      unit_.code += (is_declaration(chunk) ? "" : marker(chunk)) + position(chunk) + text;
    }
  }

  std::vector<Unit> units() {
    finish_unit();
    return std::move(units_);
  }

 private:
  int line_of(const Chunk& chunk) const { return chunk.line + first_line_ - 1; }
  std::string position(const Chunk& chunk) const { return at_line(line_of(chunk), number_); }

  /// Notes the line that runs, for the report of an exception: that of the first token.
  std::string marker(const Chunk& chunk) const {
    auto before = chunk.text.substr(0, static_cast<size_t>(chunk.tokens.front().text.data() - chunk.text.data()));
    auto line = line_of(chunk) + std::count(before.begin(), before.end(), '\n');
    return "\n::accelerate::notebook::running_line = " + std::to_string(line) + ";";
  }

  /// What begins with one of these words does not run, so that it has no line to note.
  static bool is_declaration(const Chunk& chunk) {
    auto first = chunk.tokens.front().text;
    for (std::string_view word : {"struct", "class", "enum", "union", "template", "namespace", "using", "typedef",
                                  "extern", "static_assert", "concept", "["}) {
      if (first == word) return first != "[" || (chunk.tokens.size() > 1 && chunk.tokens[1].text == "[");
    }
    return false;
  }

  std::string in_function(const std::string& body) {
    auto name = "cell_" + std::to_string(number_) + "_" + std::to_string(num_functions_++);
    return "\nstatic void " + name + "() {" + body + "\n}\n" + name + "();";
  }

  void add_redefinition(const Chunk& chunk, const std::vector<std::string>& names) {
    finish_unit();
    auto space = "In" + std::to_string(number_);
    units_.push_back(
        {marker(chunk) + "\ninline namespace " + space + " {" + position(chunk) + std::string(chunk.text) + "\n}\n",
         names});
  }

  void finish_unit() {
    if (!unit_.code.empty()) units_.push_back({unit_.code + "\n"});
    unit_ = {};
  }

  int number_;
  int first_line_;
  const IsKnown& is_known_;
  int num_functions_ = 0;
  Unit unit_;
  std::vector<Unit> units_;
};

}  // namespace

std::vector<Unit> rewrite_cell(std::string_view cell, int number, const IsKnown& is_known, int first_line) {
  Rewriter rewriter(number, first_line, is_known);
  for (const auto& chunk : split_cell(cell)) rewriter.add(chunk);
  return rewriter.units();
}

Unit timed_cell(std::string_view cell, int number, int loops, int repeats, int first_line) {
  auto name = "cell_" + std::to_string(number) + "_timed";
  std::string body(cell);
  if (!body.empty() && body.find_last_not_of(" \t\n") != std::string::npos) {
    body.erase(body.find_last_not_of(" \t\n") + 1);
    if (!body.ends_with(';') && !body.ends_with('}')) body += "\n;";
  }
  return {"static void " + name + "() {" + at_line(first_line, number) + body +
              "\n}\n::accelerate::notebook::time_calls(" + name + ", " + std::to_string(loops) + ", " +
              std::to_string(repeats) + ");\n",
          {}};
}

}  // namespace accelerate::notebook
