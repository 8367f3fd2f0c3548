#pragma once

// Where a user's files lie: the home directory, data, caches, temporary files, and what Hugging Face's programs keep
// there.

#include <filesystem>
#include <optional>
#include <string>

namespace accelerate {

/// The directory that a variable names, with ~ for the home directory; nothing when it is not set or empty.
std::optional<std::filesystem::path> environment_directory(const std::string& variable);

/// A directory, and the variable that names it.
struct NamedDirectory {
  std::filesystem::path path;
  std::string variable;  // empty where none does
};

/// Where temporary files go: as std::filesystem::temp_directory_path finds it, but variables that are empty do not
/// count. It need not exist.
NamedDirectory temporary_directory();

/// HOME; without it, what the system knows of the user.
std::filesystem::path home_directory();

/// XDG_CACHE_HOME, else ~/.cache.
std::filesystem::path cache_home();

/// XDG_DATA_HOME, else ~/.local/share.
std::filesystem::path data_home();

/// HF_HOME, else huggingface in cache_home().
std::filesystem::path huggingface_home();

}  // namespace accelerate
