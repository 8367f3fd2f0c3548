#pragma once

// What happens when a cell is run: its parts one after the other, and how that ended.

#include <string>

#include <nlohmann/json.hpp>

#include "notebook/worker/interpreter.h"

namespace accelerate::notebook {

/// Runs a cell. Returns {"status": "ok"}, or {"status": "error", "ename", "evalue", "traceback"} for the first thing
/// that went wrong, in the words of Jupyter's protocol.
nlohmann::json run_cell(Interpreter& interpreter, const std::string& cell, int number);

}  // namespace accelerate::notebook
