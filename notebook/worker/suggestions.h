#pragma once

// Code completion and inspection in a cell.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "notebook/worker/interpreter.h"

namespace accelerate::notebook {

/// The completions at byte `cursor` of the cell: {"begin": first byte of the unfinished name, "names": [{"name",
/// "kind", "signature", "documentation"}]}. With `whole_word` only the name that the cursor is in or directly after.
///
/// The compiler parses the cell up to the cursor in a copy of this process, so that the definitions of the notebook do
/// not change.
nlohmann::json suggestions_at(Interpreter& interpreter, std::string_view cell, size_t cursor, bool whole_word);

}  // namespace accelerate::notebook
