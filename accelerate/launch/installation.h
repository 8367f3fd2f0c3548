#pragma once

// Paths of the files that belong to this command, in an installation or a build directory.

#include <filesystem>
#include <string>

namespace accelerate::launch {

/// The parent of the directory that contains the running command.
std::filesystem::path own_prefix();

/// The path of a helper program that does work which needs libtorch. The file does not exist if the command was built
/// without libtorch.
std::filesystem::path helper_program(const std::string& name);

}  // namespace accelerate::launch
