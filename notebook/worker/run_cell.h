#pragma once

// Runs the parts of a cell one after the other.

#include <string>

#include <nlohmann/json.hpp>

#include "notebook/worker/interpreter.h"

namespace accelerate::notebook {

/// Runs a cell. Returns {"status": "ok"}, or {"status": "error", "ename", "evalue", "traceback"} for the first error,
/// as in Jupyter's protocol.
nlohmann::json run_cell(Interpreter& interpreter, const std::string& cell, int number);

}  // namespace accelerate::notebook
