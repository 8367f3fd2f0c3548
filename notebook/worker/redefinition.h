#pragma once

// Declarations of cells, and how a newer one takes the place of an older.

#include <string>

#include "notebook/cells/rewrite_cell.h"

namespace clang {
class CompilerInstance;
}

namespace accelerate::notebook {

/// Whether a cell, and not only a header, has declared this name at its top level.
bool is_declared_by_cell(clang::CompilerInstance& compiler, const std::string& name);

/// Takes older declarations out of sight that a function replaces which is about to be defined: functions with its
/// parameters, and what is no function. Returns whether there are functions left that have the name.
bool hide_replaced(clang::CompilerInstance& compiler, const Overload& overload);

/// Leaves the newest declaration of this name alone in the sight of later cells, with overloads that it does not
/// replace. Code that was compiled with an older one goes on using that.
void hide_older_declarations(clang::CompilerInstance& compiler, const std::string& name);

}  // namespace accelerate::notebook
