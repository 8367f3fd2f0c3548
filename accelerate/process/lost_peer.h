#pragma once

// The record by which a rank tells its launcher that it is a victim. It is written as soon as the loss is noticed. The
// exit code cannot tell: the program may catch the error, continue, and end with any exit code.

#include <filesystem>
#include <string_view>

namespace accelerate::process {

/// Records that a peer is gone or did not take part. The first record of a process is kept. Writes it next to the file
/// that the launcher names in TORCHELASTIC_ERROR_FILE, if set.
void note_lost_peer(std::string_view message);

/// Whether this process has recorded a lost peer.
bool has_lost_peer();

/// Clears the record, for a forked child.
void clear_lost_peer();

/// The path of the record of the rank with that error file.
std::filesystem::path lost_peer_file(const std::filesystem::path& error_file);

}  // namespace accelerate::process
