#pragma once

// Splits a cell into its top-level chunks: declarations, statements, and the expression at its end.

#include <string_view>
#include <vector>

#include "notebook/cells/tokens.h"

namespace accelerate::notebook {

enum class ChunkKind {
  Directive,   // a line of the preprocessor
  Statement,   // a declaration, or an expression with its semicolon
  Control,     // for, if, try, a block: what C++ allows in functions only
  Expression,  // at the end and without a semicolon: its value is displayed
};

struct Chunk {
  ChunkKind kind = ChunkKind::Statement;
  std::string_view text = {};  // part of the cell, including space and comments before it
  std::vector<Token> tokens = {};
  int line = 1;    // of the cell, where `text` begins
  int column = 1;  // of that line, in bytes
};

/// The chunks of a cell in their order. Together they are the whole cell, without space and comments at its end.
std::vector<Chunk> split_cell(std::string_view cell);

}  // namespace accelerate::notebook
