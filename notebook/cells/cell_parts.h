#pragma once

// The lines of a cell that are not C++: commands of the notebook, which begin with % or !.

#include <string>
#include <string_view>
#include <vector>

namespace accelerate::notebook {

enum class PartKind {
  Code,
  Shell,    // !command            runs in a shell
  Include,  // %include directory  is searched for headers from now on
  Library,  // %lib file           is loaded, so that code can use what it defines
  Time,     // %%time              the rest of the cell runs, and the time it took is told
  TimeIt,   // %%timeit            the rest of the cell runs many times, and the mean is told
};

struct CellPart {
  PartKind kind = PartKind::Code;
  std::string text = {};  // without the word of the command
  int line = 1;           // of the cell, where it begins
  int loops = 0;          // %%timeit -n: calls of each run; 0 finds a good number
  int repeats = 7;        // %%timeit -r: runs
};

/// The parts of a cell in their order. Commands stand at the beginning of a line, outside of all brackets. Throws Error
/// for a command that does not exist.
std::vector<CellPart> parts_of(std::string_view cell);

}  // namespace accelerate::notebook
