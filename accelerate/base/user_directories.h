#pragma once

// A user's directories: home, data, cache, temporary files, and the cache of Hugging Face's programs.

#include <filesystem>
#include <optional>
#include <string>

namespace accelerate {

/// The directory that a variable names, with ~ expanded. Nothing if it is unset or empty.
std::optional<std::filesystem::path> environment_directory(const std::string& variable);

/// A directory and the variable that names it.
struct NamedDirectory {
  std::filesystem::path path;
  std::string variable;  // empty if none does
};

/// The directory for temporary files, as std::filesystem::temp_directory_path finds it, except that empty variables are
/// ignored. It need not exist.
NamedDirectory temporary_directory();

/// HOME, or the user's entry in the password database.
std::filesystem::path home_directory();

/// XDG_CACHE_HOME, else ~/.cache.
std::filesystem::path cache_home();

/// XDG_DATA_HOME, else ~/.local/share.
std::filesystem::path data_home();

/// HF_HOME, else huggingface in cache_home().
std::filesystem::path huggingface_home();

}  // namespace accelerate
