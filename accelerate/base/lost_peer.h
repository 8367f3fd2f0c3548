#pragma once

// The note by which a rank tells its launcher that it fails because of another one. It is written when the loss is
// noticed: what the program does then, and with which exit code it ends, is its own affair.

#include <filesystem>
#include <string_view>

namespace accelerate {

/// Notes that a peer is gone, or did not take part. The first note of a process stays. It goes to the file beside the
/// one that the launcher names in TORCHELASTIC_ERROR_FILE, if it names one.
void note_lost_peer(std::string_view message);

/// Whether this process has noted such a loss.
bool has_lost_peer();

/// A forked copy of this process begins without the note.
void forget_lost_peer();

/// Where the rank with that error file writes its note.
std::filesystem::path lost_peer_file(const std::filesystem::path& error_file);

}  // namespace accelerate
