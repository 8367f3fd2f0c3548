#pragma once

// Where the files are that belong to this command, installed or in a build directory.

#include <filesystem>
#include <string>

namespace accelerate::launch {

/// The directory above that of the running command.
std::filesystem::path own_prefix();

/// The path of a program that does for the command what needs libtorch. It does not exist when the command was built
/// without it.
std::filesystem::path helper_program(const std::string& name);

}  // namespace accelerate::launch
