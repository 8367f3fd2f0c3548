#pragma once

// Splits a cell into C++ code and notebook commands, the lines that begin with % or !.

#include <string>
#include <string_view>
#include <vector>

namespace accelerate::notebook {

enum class PartKind {
  Code,
  Shell,    // !command            is run in a shell
  Include,  // %include directory  is added to the include path
  Library,  // %lib file           is loaded as a shared library
  Time,     // %%time              runs the rest of the cell and prints its time
  TimeIt,   // %%timeit            runs the rest of the cell many times and prints the mean time
};

struct CellPart {
  PartKind kind = PartKind::Code;
  std::string text = {};  // without the name of the command
  int line = 1;           // of the cell, where it begins
  int loops = 0;          // %%timeit -n: calls per run; 0: chosen automatically
  int repeats = 7;        // %%timeit -r: runs
};

/// The parts of a cell in their order. A command is recognised at the start of a line and outside of all brackets.
/// Throws Error for an unknown command.
std::vector<CellPart> parts_of(std::string_view cell);

}  // namespace accelerate::notebook
