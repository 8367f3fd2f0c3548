#include "cli/commands.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <nlohmann/json.hpp>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "accelerate/base/user_directories.h"
#include "accelerate/launch/program/build_recipe.h"
#include "accelerate/launch/program/program.h"
#include "accelerate/process/child_process.h"
#include "cli/command_line.h"
#include "cli/machine.h"

namespace accelerate::cli {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kCompiler = "clang++-19";  // the version of the interpreter, which reads what it has compiled
constexpr const char* kKernelName = "accelerate-cpp";
constexpr const char* kHeader = "notebook/prelude.h";

/// Where Jupyter looks for the kernels of this user.
fs::path user_data() {
  auto chosen = environment_directory("JUPYTER_DATA_DIR");
  return chosen ? *chosen : data_home() / "jupyter";
}

/// What to do where the Jupyter that the kernel is for is not there; else nothing.
std::string hint_at_jupyter(const std::string& prefix) {
  if (prefix.empty()) {
    return find_in_path("jupyter").empty() ? "There is no jupyter in PATH; pip install jupyterlab installs it" : "";
  }
  if (fs::exists(fs::path(prefix) / "bin/jupyter")) return {};
  return "There is no jupyter in " + prefix +
         "/bin; pip install jupyterlab installs it there, and a Jupyter in another place finds " +
         "the kernel with JUPYTER_PATH=" + fs::absolute(prefix).string() + "/share/jupyter";
}

/// The flags that cells and precompiled headers share. Optimization is left out: cells should start at once, and what
/// takes time is in the libraries.
Words cell_flags(const launch::BuildRecipe& recipe, const std::string& resource_directory) {
  Words flags = {"-resource-dir=" + resource_directory, "-fPIC", "-fretain-comments-from-system-headers",
                 "-Wno-unused-value"};
  for (const auto& flag : recipe.compile_flags) {
    if (!flag.starts_with("-O") && !flag.starts_with("-g")) flags.push_back(flag);
  }
  return flags;
}

std::string resource_directory() {
  auto told = process::run_and_capture({kCompiler, "-print-resource-dir"});
  if (told.exit_code != 0) {
    throw UsageError(std::string(kCompiler) + " was not found; the kernel needs it: apt-get install clang-19");
  }
  return told.output.substr(0, told.output.find('\n'));
}

/// What kernel.json says.
nlohmann::json kernel_file(const fs::path& directory, const fs::path& kernel, const fs::path& cells,
                           const Words& flags) {
  Words command = {kernel, "{connection_file}", cells};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-include-pch", directory / "prelude.pch"});
  return {{"argv", command}, {"display_name", "C++20 (accelerate)"}, {"language", "c++"}};
}

/// Whether the headers have been compiled with these flags before and none of them has changed since.
bool is_compiled(const fs::path& directory, const nlohmann::json& content) {
  std::ifstream file(directory / "kernel.json");
  auto compiled = directory / "prelude.pch";
  if (nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false) != content || !fs::exists(compiled))
    return false;
  std::ifstream rule(directory / "prelude.d");  // as for make: the target and a colon, then the files
  std::string word;
  rule >> word;
  while (rule >> word) {
    if (word == "\\") continue;
    if (!fs::exists(word) || fs::last_write_time(word) > fs::last_write_time(compiled)) return false;
  }
  return true;
}

void precompile(const fs::path& directory, const Words& flags) {
  auto source = directory / "prelude.h", compiled = directory / "prelude.pch";
  auto rule = directory / "prelude.d", unfinished = directory / "prelude.pch.unfinished";
  write_file_atomically(source, std::string("#include <") + kHeader + ">\n");
  Words words = {kCompiler};
  words.insert(words.end(), flags.begin(), flags.end());
  // Templates are instantiated now rather than at each start, and the language is that of the interpreter.
  words.insert(words.end(), {"-x", "c++-header", source, "-o", unfinished, "-MD", "-MF", rule,
                             "-fpch-instantiate-templates", "-Xclang", "-fincremental-extensions"});
  std::cout << "Compiling the headers of the notebook, which takes about a minute ..." << std::endl;
  if (process::run_and_capture(words, /*silent=*/false).exit_code != 0)
    fail("the headers of the notebook do not compile");
  fs::rename(unfinished, compiled);
}

}  // namespace

int notebook_command(const Words& arguments) {
  std::string action, prefix;
  bool for_user = false;
  CLI::App app("Registers the C++ kernel with Jupyter. Run it again after an update of the library.",
               "accelerate notebook");
  app.add_option("action", action, "install: writes the kernel's description and compiles its headers");
  app.add_flag("--user", for_user, "For the Jupyter of this user, which is the default");
  app.add_option("--prefix", prefix, "For the Jupyter of an environment: the directory of the environment");
  if (!parse_arguments(app, arguments)) return 0;
  if (action != "install") throw UsageError("the action is '" + action + "'; it can be install");
  if (for_user && !prefix.empty()) throw UsageError("--user and --prefix exclude each other; give one of them");

  auto kernel = launch::helper_program("accelerate-kernel");
  auto cells = launch::helper_program("accelerate-cells");
  if (!fs::exists(kernel) || !fs::exists(cells)) {
    throw UsageError(kernel.string() + " is missing: this installation was built without ACCELERATE_NOTEBOOK");
  }
  auto recipe = launch::read_build_recipe(launch::own_prefix());
  auto data = prefix.empty() ? user_data() : fs::absolute(prefix) / "share/jupyter";
  auto directory = data / "kernels" / kKernelName;
  fs::create_directories(directory);
  auto flags = cell_flags(recipe, resource_directory());
  auto content = kernel_file(directory, kernel, cells, flags);
  if (!is_compiled(directory, content)) {
    precompile(directory, flags);
    write_file_atomically(directory / "kernel.json", content.dump(1) + "\n");
  }
  std::cout << "Installed the kernel " << kKernelName << " in " << directory.string() << std::endl;
  if (auto hint = hint_at_jupyter(prefix); !hint.empty()) std::cout << hint << std::endl;
  return 0;
}

}  // namespace accelerate::cli
