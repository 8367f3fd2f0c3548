#pragma once

// std::cin and C's stdin of a cell: lines that the person at the notebook is asked for.

#include <functional>
#include <optional>
#include <string>

namespace accelerate::notebook {

/// Asks for a line. Nothing means that there is nobody to ask, which a program sees as the end of its input.
using AskForLine = std::function<std::optional<std::string>()>;

/// From now on reading std::cin or stdin asks for a line whenever the last one is used up. For the whole process.
void ask_for_standard_input(AskForLine ask);

}  // namespace accelerate::notebook
