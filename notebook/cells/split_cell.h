#pragma once

// Cuts a cell into what stands at its top level: declarations, statements, and the expression at its end.

#include <string_view>
#include <vector>

#include "notebook/cells/tokens.h"

namespace accelerate::notebook {

enum class ChunkKind {
  Directive,   // a line of the preprocessor
  Statement,   // a declaration, or an expression with its semicolon
  Control,     // for, if, try, a block: what C++ allows in functions only
  Expression,  // at the end and without a semicolon: its value is shown
};

struct Chunk {
  ChunkKind kind = ChunkKind::Statement;
  std::string_view text = {};  // part of the cell; the space and comments before it belong to it
  std::vector<Token> tokens = {};
  int line = 1;    // of the cell, where `text` begins
  int column = 1;  // of that line, in bytes
};

/// The chunks of a cell in their order; together they are the cell but for space and comments at its end.
std::vector<Chunk> split_cell(std::string_view cell);

}  // namespace accelerate::notebook
