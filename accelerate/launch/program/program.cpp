#include "accelerate/launch/program/program.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <sstream>

#include "accelerate/base/error.h"

namespace accelerate::launch {

namespace fs = std::filesystem;

namespace {

bool is_executable(const fs::path& path) { return fs::is_regular_file(path) && access(path.c_str(), X_OK) == 0; }

std::optional<std::string> find_in_path(const std::string& name, const std::string& search_path) {
  std::istringstream directories(search_path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    auto candidate = fs::path(directory.empty() ? "." : directory) / name;
    if (is_executable(candidate)) return candidate.string();
  }
  return std::nullopt;
}

std::string checked_file(const std::string& program, bool to_execute, const std::string& search_path) {
  std::error_code error;
  auto status = fs::status(program, error);
  if (status.type() == fs::file_type::not_found) {
    bool searched = program.find('/') == std::string::npos && to_execute;
    fail("'", program, "' does not exist in the current directory (", fs::current_path().string(), ")",
         searched ? " nor in PATH (" + search_path + ")" : "");
  }
  if (fs::is_directory(status)) fail("'", program, "' is a directory, not a program");
  if (access(program.c_str(), to_execute ? X_OK : R_OK) != 0) {
    fail("'", program, "' is not ", to_execute ? "executable" : "readable", "; check it with ls -l, and ",
         to_execute ? "make it so with chmod +x" : "the permissions of its directories");
  }
  return program;
}

std::string find_python(const std::string& program, const std::string& search_path) {
  auto python = find_in_path("python3", search_path);
  if (!python) fail("'", program, "' needs python3, which is not in PATH (", search_path, ")");
  return *python;
}

}  // namespace

process::Command find_command(const std::string& program, const std::vector<std::string>& arguments,
                              const std::string& search_path, const ProgramKind& kind) {
  process::Command command;
  if (kind.module) {
    command = {find_python(program, search_path), {"python3", "-m", program}};
  } else if (program.ends_with(".py") && !kind.no_python) {
    checked_file(program, /*to_execute=*/false, search_path);
    command = {find_python(program, search_path), {"python3", program}};
  } else {
    bool has_directory = program.find('/') != std::string::npos;
    auto found = has_directory ? std::nullopt : find_in_path(program, search_path);
    command = {found ? *found : checked_file(program, /*to_execute=*/true, search_path), {program}};
    if (command.path.find('/') == std::string::npos) command.path = "./" + command.path;
  }
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  return command;
}

fs::path own_prefix() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path(); }

fs::path helper_program(const std::string& name) { return own_prefix() / ACCELERATE_LIBEXECDIR / "accelerate" / name; }

}  // namespace accelerate::launch
