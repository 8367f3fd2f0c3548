#pragma once

// What a cell sends to the notebook besides text: results and pictures.

#include <map>
#include <string>

namespace accelerate::notebook {

/// One thing in several formats, by their MIME types; the notebook takes the richest that it can show. Pictures that
/// are not text are base64.
using MimeBundle = std::map<std::string, std::string>;

/// The line of the cell whose statement runs. Written by the code that cells become (cells/rewrite_cell.h).
extern int running_line;

/// From now on messages go to the notebook, as frames through this pipe (protocol/frames.h). Without one their plain
/// text goes to standard output.
void send_to(int pipe);

/// Sends the value of the expression that a cell ends with.
void send_result(const MimeBundle& bundle);

/// Shows something below the cell. With `update`, in the place where the thing with this `id` was shown before.
void send_display(const MimeBundle& bundle, const std::string& id, bool update);

}  // namespace accelerate::notebook
