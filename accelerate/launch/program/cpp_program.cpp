#include "accelerate/launch/program/cpp_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <tuple>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/content_key.h"
#include "accelerate/base/error.h"
#include "accelerate/base/file_lock.h"
#include "accelerate/base/read_file.h"
#include "accelerate/base/user_directories.h"
#include "accelerate/launch/program/build_recipe.h"
#include "accelerate/process/child_process.h"

namespace accelerate::launch {

namespace fs = std::filesystem;

namespace {

ContentKey key_of(const BuildRecipe& recipe) {
  ContentKey key;
  key.add(recipe.version).add(recipe.compiler);
  for (const auto* words : {&recipe.headers, &recipe.compile_flags, &recipe.link_flags}) {
    for (const auto& word : *words) key.add(word);
  }
  return key;
}

/// A lock that lets one launch at a time create the directory.
FileLock lock_directory(const fs::path& directory) { return FileLock(directory.string() + ".lock"); }

/// Runs the compiler and reports how long it took. The compiler's own messages are printed in between.
void run_compiler(const std::vector<std::string>& words, const std::string& what) {
  auto begin = std::chrono::steady_clock::now();
  std::cerr << "accelerate launch: compiling " << what << std::endl;
  int exit_code = process::run_and_capture(words, /*silent=*/false).exit_code;
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (exit_code == 127) fail("the compiler ", words.front(), " was not found; install it, or set CXX to another one");
  if (exit_code != 0) fail(what, " does not compile; see the compiler's message above");
  std::cerr << "accelerate launch: compiled in " << std::fixed << std::setprecision(1) << took.count() << " s"
            << std::endl;
}

/// The headers of the recipe that the source includes directly. Precompiling only these cannot change what compiles.
std::vector<std::string> included_headers(const std::string& source, const std::vector<std::string>& headers) {
  std::vector<std::string> included;
  std::ifstream file(source);
  for (std::string line; std::getline(file, line);) {
    std::erase_if(line, [](unsigned char letter) { return std::isspace(letter) != 0; });
    if (!line.starts_with("#include")) continue;
    for (const auto& header : headers) {
      const bool named = line.starts_with("#include<" + header + ">") || line.starts_with("#include\"" + header + "\"");
      if (named && std::find(included.begin(), included.end(), header) == included.end()) included.push_back(header);
    }
  }
  std::sort(included.begin(), included.end());
  return included;
}

/// The header to include first; its precompiled form is next to it. `library` is the key of the library's headers.
fs::path precompiled_header(BuildRecipe recipe, std::vector<std::string> headers, const fs::path& cache,
                            const std::string& library) {
  recipe.headers = std::move(headers);
  auto directory = cache / ("headers-" + key_of(recipe).hex());
  auto header = directory / "headers.h";
  auto compiled = directory / "headers.h.gch";
  auto record = directory / "library";
  auto is_current = [&] { return fs::exists(compiled) && read_file_if_there(record) == library; };
  if (is_current()) return header;
  auto lock = lock_directory(directory);
  if (is_current()) return header;
  make_directories(directory);
  std::string text;
  for (const auto& name : recipe.headers) text += "#include <" + name + ">\n";
  write_file_atomically(header, text);
  std::vector<std::string> words = {recipe.compiler};
  words.insert(words.end(), recipe.compile_flags.begin(), recipe.compile_flags.end());
  auto target = unfinished_path(compiled);
  for (const auto& word :
       {std::string("-x"), std::string("c++-header"), header.string(), std::string("-o"), target.string()}) {
    words.push_back(word);
  }
  run_compiler(words, "the library headers, once for all programs that include them");
  fs::remove(record);
  fs::rename(target, compiled);
  write_file_atomically(record, library);
  return header;
}

/// Splits a rule for make into words. A backslash escapes a space or # in a word and continues a line; $ is doubled.
std::vector<std::string> words_of_rule(const std::string& rule) {
  std::vector<std::string> words(1);
  for (size_t i = 0; i < rule.size(); ++i) {
    char next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    bool escaped = (rule[i] == '\\' && (next == ' ' || next == '#')) || (rule[i] == '$' && next == '$');
    bool goes_on = rule[i] == '\\' && next == '\n';
    if (escaped) {
      words.back() += rule[++i];
    } else if (goes_on || std::isspace(static_cast<unsigned char>(rule[i])) != 0) {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += rule[i];
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// The files that a source includes, without system headers, from the make rule that the compiler wrote.
std::vector<fs::path> dependencies_in(const fs::path& make_rule, const fs::path& except) {
  std::vector<fs::path> paths;
  auto words = words_of_rule(read_file(make_rule));
  for (size_t i = 1; i < words.size(); ++i) {  // the first is the target
    if (fs::path(words[i]) != except) paths.push_back(fs::absolute(words[i]));
  }
  return paths;
}

timespec time_now() {
  timespec moment{};
  clock_gettime(CLOCK_REALTIME, &moment);
  return moment;
}

/// Whether the file was written or replaced after `moment`. Uses ctime, which also shows replacement by an older file.
bool changed_after(const fs::path& path, const timespec& moment) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return true;
  return std::tie(status.st_ctim.tv_sec, status.st_ctim.tv_nsec) > std::tie(moment.tv_sec, moment.tv_nsec);
}

std::string key_of_files(const std::string& library, const std::vector<fs::path>& paths) {
  ContentKey key;
  key.add(library);
  for (const auto& path : paths) key.add(path.string()).add_file(path);
  return key.hex();
}

/// Records the inputs of the program.
void write_record(const fs::path& record, const std::string& library, const std::vector<fs::path>& paths) {
  auto text = key_of_files(library, paths) + "\n";
  for (const auto& path : paths) text += path.string() + "\n";
  write_file_atomically(record, text);
}

/// Whether the library and the recorded inputs of the program are unchanged.
bool is_current(const fs::path& directory, const std::string& library) {
  std::ifstream record(directory / "sources");
  std::string key, line;
  std::getline(record, key);
  std::vector<fs::path> paths;
  while (std::getline(record, line)) paths.emplace_back(line);
  return !paths.empty() && fs::exists(directory / "program") && key_of_files(library, paths) == key;
}

}  // namespace

bool is_cpp_source(const std::string& program) {
  return program.ends_with(".cpp") || program.ends_with(".cc") || program.ends_with(".cxx");
}

fs::path program_cache() { return cache_home() / "accelerate" / "programs"; }

fs::path compile_program(const std::string& source, const BuildRecipe& recipe, const fs::path& cache) {
  if (access(source.c_str(), R_OK) != 0) fail("'", source, "' does not exist, or cannot be read");
  auto directory = cache / key_of(recipe).add(fs::absolute(source).string()).hex();
  auto program = directory / "program";
  const auto library = key_of_library_headers(recipe);
  if (is_current(directory, library)) return program;
  auto lock = lock_directory(directory);
  if (is_current(directory, library)) return program;

  const auto headers = included_headers(source, recipe.headers);
  const auto header = headers.empty() ? fs::path() : precompiled_header(recipe, headers, cache, library);
  make_directories(directory);
  auto made = unfinished_path(program);
  auto rule = unfinished_path(directory / "includes");
  std::vector<std::string> words = {recipe.compiler};
  words.insert(words.end(), recipe.compile_flags.begin(), recipe.compile_flags.end());
  words.insert(words.end(), {"-MMD", "-MF", rule.string()});
  if (!header.empty()) words.insert(words.end(), {"-include", header.string()});
  words.insert(words.end(), {source, "-o", made.string()});
  words.insert(words.end(), recipe.link_flags.begin(), recipe.link_flags.end());
  auto begun = time_now();
  run_compiler(words, source);

  auto paths = dependencies_in(rule, header);
  fs::remove(rule);
  // The record is removed before the program is replaced and written afterwards, so it never describes another program.
  // If an input changed during compilation, the compiler may have read either version: without a record the next start
  // compiles again.
  auto record = directory / "sources";
  fs::remove(record);
  fs::rename(made, program);
  bool changed = std::any_of(paths.begin(), paths.end(), [&](const auto& path) { return changed_after(path, begun); });
  if (!changed) write_record(record, library, paths);
  return program;
}

}  // namespace accelerate::launch
