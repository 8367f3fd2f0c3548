#pragma once

// Names that could stand at a place in a cell, and what is known about a name that stands there.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "notebook/worker/interpreter.h"

namespace accelerate::notebook {

/// The names that fit before the byte `cursor` of the cell: {"begin": byte where the unfinished name begins, "names":
/// [{"name", "kind", "signature", "documentation"}]}. With `whole_word` only the name that the cursor is in or behind.
///
/// The compiler reads the cell up to there as far as that is possible, in a copy of this process: whatever that does,
/// the definitions of the notebook stay as they are.
nlohmann::json suggestions_at(Interpreter& interpreter, std::string_view cell, size_t cursor, bool whole_word);

}  // namespace accelerate::notebook
