#pragma once

// The progress bars of this process that are drawn on a terminal and not closed yet.

#include <functional>

namespace accelerate {

class ProgressBar;

/// Draws a bar as it is now, unless the terminal shows that already.
using DrawBar = std::function<void()>;

/// Registers a bar under its address, until remove_open_bar.
void add_open_bar(const ProgressBar* bar, DrawBar draw);
void remove_open_bar(const ProgressBar* bar);

/// Draws all open bars, as a notebook does at the end of a cell. Not while other threads use them.
void draw_open_bars();

}  // namespace accelerate
