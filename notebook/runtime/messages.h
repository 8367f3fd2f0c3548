#pragma once

// Messages from a cell to the notebook: results and displayed values.

#include <map>
#include <string>

namespace accelerate::notebook {

/// A value in several formats, by MIME type. The notebook shows the richest that it supports. Binary formats are
/// base64-encoded.
using MimeBundle = std::map<std::string, std::string>;

/// The line of the running statement in its cell. Set by the code of rewritten cells (cells/rewrite_cell.h).
extern int running_line;

/// Sends messages to the notebook from now on, as frames through this pipe (protocol/frames.h). Before this call their
/// plain text goes to standard output.
void send_to(int pipe);

/// Sends the value of the expression that a cell ends with.
void send_result(const MimeBundle& bundle);

/// Displays a value below the cell. With `update` it replaces the output with this `id`.
void send_display(const MimeBundle& bundle, const std::string& id, bool update);

}  // namespace accelerate::notebook
