#pragma once

// Replaces older declarations of cells by newer ones.

#include <string>

#include "notebook/cells/rewrite_cell.h"

namespace clang {
class CompilerInstance;
}

namespace accelerate::notebook {

/// Whether a cell, and not only a header, has declared this name at its top level.
bool is_declared_by_cell(clang::CompilerInstance& compiler, const std::string& name);

/// Hides the older declarations that a new function replaces: functions with the same parameters, and declarations that
/// are not functions. Returns whether other functions of the name are left.
bool hide_replaced(clang::CompilerInstance& compiler, const Overload& overload);

/// Hides all declarations of this name from later cells, except the newest and the overloads that it does not replace.
/// Code that was compiled with an older declaration continues to use it.
void hide_older_declarations(clang::CompilerInstance& compiler, const std::string& name);

}  // namespace accelerate::notebook
