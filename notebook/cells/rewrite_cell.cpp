#include "notebook/cells/rewrite_cell.h"

#include <algorithm>
#include <span>

#include "notebook/cells/declared_names.h"
#include "notebook/cells/split_cell.h"

namespace accelerate::notebook {

namespace {

/// A position in a cell.
struct Place {
  int line = 1;
  int column = 1;
};

/// A #line directive: the compiler places the following code at this position of the cell.
std::string at_place(const Place& place, int number) {
  return "\n#line " + std::to_string(place.line) + " \"In[" + std::to_string(number) + "]\"\n" +
         std::string(static_cast<size_t>(place.column - 1), ' ');
}

/// The position after a text that begins at `place`.
Place end_of(std::string_view text, const Place& place) {
  auto newline = text.rfind('\n');
  if (newline == std::string_view::npos) return {place.line, place.column + static_cast<int>(text.size())};
  return {place.line + static_cast<int>(std::count(text.begin(), text.end(), '\n')),
          static_cast<int>(text.size() - newline)};
}

/// A name that no other run has, for something of this kind.
std::string name_in(const CodeOrigin& origin, const std::string& kind) {
  return kind + "_" + std::to_string(origin.number) + "_" + std::to_string(origin.run);
}

std::vector<std::string> names_of(const Chunk& chunk) {
  return chunk.kind == ChunkKind::Statement ? declared_names(chunk.tokens) : std::vector<std::string>();
}

/// Whether `later` declares again what `chunk` declares without a body, or defines a member of it. Two functions with
/// bodies are overloads.
bool completes(const Chunk& chunk, const Chunk& later) {
  auto names = names_of(chunk), later_names = names_of(later);
  auto declared_here = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
  bool complete = chunk.text.ends_with('}');
  return (!complete && std::ranges::any_of(later_names, declared_here)) || defines_member_of(names, later.tokens);
}

/// The first chunk and those up to its completion: a function that is declared and then used has its code in a later
/// chunk. Only the first chunk when something between them runs.
std::span<const Chunk> group_at_front(std::span<const Chunk> chunks) {
  size_t size = 1;
  for (size_t i = 0; i < size; ++i) {
    for (size_t later = size; later < chunks.size(); ++later) {
      if (completes(chunks[i], chunks[later])) size = later + 1;
    }
  }
  for (size_t i = 1; i < size; ++i) {
    bool member = std::ranges::any_of(chunks.first(i), [&](const Chunk& one) { return completes(one, chunks[i]); });
    if (names_of(chunks[i]).empty() && !member) return chunks.first(1);
  }
  return chunks.first(size);
}

/// Collects chunks into units. Only redefinitions need one of their own.
class Rewriter {
 public:
  explicit Rewriter(const CodeOrigin& origin) : origin_(origin) {}

  void add(const Chunk& chunk) {
    switch (chunk.kind) {
      case ChunkKind::Directive:
        unit_.code += in_place(chunk);
        return;
      case ChunkKind::Control:
        unit_.code += marker(chunk) + in_function(in_place(chunk));
        return;
      case ChunkKind::Expression: {
        // Between commas, which bind weaker than all other operators. A call could not take an expression of type void,
        // and messages would quote parentheses. The first operand keeps T(x) from declaring an x.
        auto text = "\nstatic_cast<void>(0)," + in_place(chunk) + ", ::accelerate::notebook::Shown{};";
        unit_.code += marker(chunk) + (has_lambda(chunk.tokens) ? in_function(text) : text);
        return;
      }
      case ChunkKind::Statement:
        break;
    }
    if (runs_lambda(chunk)) {
      unit_.code += marker(chunk) + in_function(in_place(chunk));
    } else {
      unit_.code += (is_declaration(chunk) ? "" : marker(chunk)) + in_place(chunk);
    }
  }

  /// Declarations that replace older ones, all in one unit.
  void add_redefinitions(std::span<const Chunk> chunks) {
    finish_unit();
    if (chunks.size() == 1) unit_.overload = overload_in(chunks.front());
    auto begin = "\ninline namespace " + space() + " {";
    for (const auto& chunk : chunks) {
      unit_.code += marker(chunk) + begin + in_place(chunk) + "}\n";
      for (const auto& name : names_of(chunk)) unit_.redefines.push_back(name);
    }
    finish_unit();
  }

  std::vector<Unit> units() {
    finish_unit();
    return std::move(units_);
  }

 private:
  Place place_of(const Chunk& chunk) const { return {chunk.line + origin_.first_line - 1, chunk.column}; }

  /// The text at its place in the cell. The code after it has the place behind the text, so that messages about a
  /// missing end point there.
  std::string in_place(const Chunk& chunk) const { return in_place(chunk, chunk.text); }
  std::string in_place(const Chunk& chunk, std::string_view text) const {
    auto place = place_of(chunk);
    return at_place(place, origin_.number) + std::string(text) + at_place(end_of(text, place), origin_.number);
  }

  /// People see it before the names of types.
  std::string space() const {
    return "In" + std::to_string(origin_.number) + (origin_.run > 1 ? "_" + std::to_string(origin_.run) : "");
  }

  std::string unique_name(const std::string& kind) {
    return name_in(origin_, kind) + "_" + std::to_string(num_unique_names_++);
  }

  std::optional<Overload> overload_in(const Chunk& chunk) {
    auto names = names_of(chunk);
    auto body = names.size() == 1 ? body_of_function(names[0], chunk.tokens) : std::nullopt;
    if (!body) return std::nullopt;
    auto head = chunk.text.substr(0, static_cast<size_t>(chunk.tokens[*body].text.data() - chunk.text.data()));
    auto own_space = unique_name("signature");
    auto signature = "namespace " + own_space + " {" + in_place(chunk, head) + ";\n}\n";
    return Overload{names[0], space(), signature, own_space};
  }

  /// Records the running line, that of the first token, for the report of an exception.
  std::string marker(const Chunk& chunk) const {
    auto before = chunk.text.substr(0, static_cast<size_t>(chunk.tokens.front().text.data() - chunk.text.data()));
    auto line = place_of(chunk).line + std::count(before.begin(), before.end(), '\n');
    return "\n::accelerate::notebook::running_line = " + std::to_string(line) + ";";
  }

  /// Chunks that begin with one of these words are not executed, so no line is recorded.
  static bool is_declaration(const Chunk& chunk) {
    auto first = chunk.tokens.front().text;
    for (std::string_view word : {"struct", "class", "enum", "union", "template", "namespace", "using", "typedef",
                                  "extern", "static_assert", "concept", "["}) {
      if (first == word) return first != "[" || (chunk.tokens.size() > 1 && chunk.tokens[1].text == "[");
    }
    return false;
  }

  /// Expressions do; what ends with a body is a function or namespace, whatever stands in it.
  static bool runs_lambda(const Chunk& chunk) {
    return names_of(chunk).empty() && has_lambda(chunk.tokens) && !is_declaration(chunk) && !chunk.text.ends_with('}');
  }

  std::string in_function(const std::string& body) {
    auto name = unique_name("cell");
    return "\nstatic void " + name + "() {" + body + "\n}\n" + name + "();";
  }

  void finish_unit() {
    if (!unit_.code.empty()) {
      unit_.code += "\n";
      units_.push_back(unit_);
    }
    unit_ = {};
  }

  CodeOrigin origin_;
  int num_unique_names_ = 0;
  Unit unit_;
  std::vector<Unit> units_;
};

}  // namespace

std::vector<Unit> rewrite_cell(std::string_view code, const CodeOrigin& origin, const IsKnown& is_known) {
  auto chunks = split_cell(code);
  auto redefines = [&](const Chunk& chunk) { return std::ranges::any_of(names_of(chunk), is_known); };
  Rewriter rewriter(origin);
  for (std::span<const Chunk> rest = chunks; !rest.empty();) {
    auto group = group_at_front(rest);
    if (std::ranges::any_of(group, redefines)) {
      rewriter.add_redefinitions(group);
    } else {
      for (const auto& chunk : group) rewriter.add(chunk);
    }
    rest = rest.subspan(group.size());
  }
  return rewriter.units();
}

Unit timed_cell(std::string_view code, const CodeOrigin& origin, int loops, int repeats) {
  auto name = name_in(origin, "timed_cell");
  auto body = code.substr(0, code.find_last_not_of(" \t\n") + 1);
  bool open = !body.empty() && !body.ends_with(';') && !body.ends_with('}');
  Place begin{origin.first_line, 1};
  return {"static void " + name + "() {" + at_place(begin, origin.number) + std::string(body) +
              at_place(end_of(body, begin), origin.number) + (open ? ";" : "") +
              "}\n::accelerate::notebook::time_calls(" + name + ", " + std::to_string(loops) + ", " +
              std::to_string(repeats) + ");\n",
          {},
          {}};
}

}  // namespace accelerate::notebook
