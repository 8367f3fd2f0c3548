#include "notebook/cells/cell_parts.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"
#include "notebook/cells/tokens.h"

namespace accelerate::notebook {

namespace {

std::string trimmed(std::string_view text) {
  auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

int count_after(std::istringstream& words, const std::string& flag) {
  std::string word;
  words >> word;
  int count = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc() || end != word.data() + word.size() || count < 1) {
    fail("%%timeit: ", flag, " is followed by '", word, "'; it needs a number of at least 1");
  }
  return count;
}

/// %%timeit -n 100 -r 3
void read_counts(const std::string& arguments, CellPart& part) {
  std::istringstream words(arguments);
  for (std::string word; words >> word;) {
    if (word == "-n") {
      part.loops = count_after(words, word);
    } else if (word == "-r") {
      part.repeats = count_after(words, word);
    } else {
      fail("%%timeit: '", word, "' is not an option; the options are -n calls and -r runs");
    }
  }
}

CellPart command_part(const std::string& line, int number) {
  if (line.starts_with('!')) return {PartKind::Shell, trimmed(line.substr(1)), number};
  auto end = line.find_first_of(" \t");
  auto word = line.substr(0, end);
  auto argument = end == std::string::npos ? std::string() : trimmed(line.substr(end));
  if (word == "%include" || word == "%lib") {
    if (argument.empty()) fail(word, " needs ", word == "%lib" ? "the name of a library" : "a directory");
    return {word == "%lib" ? PartKind::Library : PartKind::Include, argument, number};
  }
  auto nearest = nearest_name(word, {"%include", "%lib", "%%time", "%%timeit"});
  fail(word, " is not a command of this notebook", nearest.empty() ? "" : "; did you mean " + nearest + "?",
       " There are %include, %lib, and for a whole cell %%time and %%timeit");
}

/// The whole cell as one part, when its first line says so.
bool read_cell_command(std::string_view cell, std::vector<CellPart>& parts) {
  auto begin = cell.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || !cell.substr(begin).starts_with("%%")) return false;
  auto end = std::min(cell.find('\n', begin), cell.size());
  auto line = trimmed(cell.substr(begin, end - begin));
  auto word = line.substr(0, line.find_first_of(" \t"));
  if (word != "%%time" && word != "%%timeit") return false;
  CellPart part{word == "%%time" ? PartKind::Time : PartKind::TimeIt,
                std::string(cell.substr(std::min(end + 1, cell.size())))};
  part.line = 2 + static_cast<int>(std::count(cell.begin(), cell.begin() + static_cast<long>(begin), '\n'));
  if (part.kind == PartKind::TimeIt) read_counts(line.substr(word.size()), part);
  parts.push_back(part);
  return true;
}

}  // namespace

std::vector<CellPart> parts_of(std::string_view cell) {
  std::vector<CellPart> parts;
  if (read_cell_command(cell, parts)) return parts;
  CellPart code;
  auto finish_code = [&](int next_line) {
    if (!trimmed(code.text).empty()) parts.push_back(code);
    code = {.line = next_line};
  };
  std::istringstream lines{std::string(cell)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    bool command = (line.starts_with('%') || line.starts_with('!')) && is_balanced(code.text);
    if (!command) {
      code.text += line + "\n";
      continue;
    }
    finish_code(number + 1);
    parts.push_back(command_part(line, number));
  }
  finish_code(1);
  return parts;
}

}  // namespace accelerate::notebook
