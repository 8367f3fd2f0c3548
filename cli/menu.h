#pragma once

// A menu on a terminal: up and down or a number move the mark, Enter takes the option. One that is longer than the
// screen scrolls.

#include <string>
#include <vector>

namespace accelerate::cli {

/// Whether standard input and output are a terminal that can move its cursor.
bool can_draw_menus();

/// Draws the menu, waits for an answer, leaves one line with it behind, and returns the index of the option. Ctrl-C
/// ends the program as it does elsewhere. Throws Error when the input ends.
size_t draw_menu(const std::string& question, const std::vector<std::string>& options, size_t preset);

}  // namespace accelerate::cli
