#pragma once

// Standard input of a cell: std::cin and C's stdin ask the user of the notebook for lines.

#include <functional>
#include <optional>
#include <string>

namespace accelerate::notebook {

/// Asks the user for a line. nullopt if the frontend cannot ask; the program then sees the end of its input.
using AskForLine = std::function<std::optional<std::string>()>;

/// From now on a read of std::cin or stdin asks for a line if the last one is used up. Applies to the whole process.
void ask_for_standard_input(AskForLine ask);

}  // namespace accelerate::notebook
