#pragma once

// The progress bars of this process that are open on a terminal.

#include <functional>

namespace accelerate {

class ProgressBar;

/// Draws the current state of a bar, unless the terminal shows it already.
using DrawBar = std::function<void()>;

/// Registers a bar under its address, until remove_open_bar.
void add_open_bar(const ProgressBar* bar, DrawBar draw);
void remove_open_bar(const ProgressBar* bar);

/// Draws all open bars, as a notebook does at the end of a cell. Not thread-safe: no other thread may use a bar.
void draw_open_bars();

}  // namespace accelerate
