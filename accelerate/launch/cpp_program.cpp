#include "accelerate/launch/cpp_program.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "accelerate/base/content_key.h"
#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/launch/capture.h"

namespace accelerate::launch {

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

ContentKey key_of(const BuildRecipe& recipe) {
  ContentKey key;
  key.add(recipe.version).add(recipe.compiler);
  for (const auto* words : {&recipe.headers, &recipe.compile_flags, &recipe.link_flags}) {
    for (const auto& word : *words) key.add(word);
  }
  return key;
}

/// A name beside `path` that no other process uses, to be renamed to it when complete.
fs::path unfinished(const fs::path& path) { return path.string() + ".unfinished-" + std::to_string(getpid()); }

/// Runs the compiler, and tells how long that took.
void run_compiler(const std::vector<std::string>& words, const std::string& what) {
  auto begin = std::chrono::steady_clock::now();
  std::cerr << "accelerate launch: compiling " << what << " ..." << std::flush;
  int exit_code = capture(words, /*silent=*/false).exit_code;
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cerr << (exit_code == 0 ? " " : "\n") << std::fixed << std::setprecision(1) << took.count() << " s" << std::endl;
  if (exit_code == 127) fail("the compiler ", words.front(), " is not here; install it, or name another one in CXX");
  if (exit_code != 0) fail(what, " does not compile; the compiler has said why");
}

/// The header to include first, whose compiled form lies beside it.
fs::path precompiled_header(const BuildRecipe& recipe, const fs::path& cache) {
  auto directory = cache / ("headers-" + key_of(recipe).hex());
  auto header = directory / "headers.h";
  auto compiled = directory / "headers.h.gch";
  if (fs::exists(compiled)) return header;
  fs::create_directories(directory);
  std::ofstream file(header);
  for (const auto& name : recipe.headers) file << "#include <" << name << ">\n";
  file.close();
  std::vector<std::string> words = {recipe.compiler};
  words.insert(words.end(), recipe.compile_flags.begin(), recipe.compile_flags.end());
  auto target = unfinished(compiled);
  for (const auto& word :
       {std::string("-x"), std::string("c++-header"), header.string(), std::string("-o"), target.string()}) {
    words.push_back(word);
  }
  run_compiler(words, "the headers of the library, once for all programs");
  fs::rename(target, compiled);
  return header;
}

/// The files that a source includes, system headers aside, from what the compiler wrote for make.
std::vector<fs::path> dependencies_in(const fs::path& make_rule, const fs::path& except) {
  std::istringstream words(text_of(make_rule));
  std::vector<fs::path> paths;
  std::string target;
  words >> target;
  for (std::string word; words >> word;) {
    if (word != "\\" && fs::path(word) != except) paths.push_back(fs::absolute(word));
  }
  return paths;
}

std::string key_of_files(const std::vector<fs::path>& paths) {
  ContentKey key;
  for (const auto& path : paths) key.add(path.string()).add_file(path);
  return key.hex();
}

/// Whether the files that the program was made of are what they were.
bool is_current(const fs::path& directory) {
  std::ifstream record(directory / "sources");
  std::string key, line;
  std::getline(record, key);
  std::vector<fs::path> paths;
  while (std::getline(record, line)) paths.emplace_back(line);
  return !paths.empty() && fs::exists(directory / "program") && key_of_files(paths) == key;
}

}  // namespace

bool is_cpp_source(const std::string& program) {
  return program.ends_with(".cpp") || program.ends_with(".cc") || program.ends_with(".cxx");
}

fs::path program_cache() {
  auto base =
      environment_variable("XDG_CACHE_HOME").value_or(environment_variable("HOME").value_or("/tmp") + "/.cache");
  return fs::path(base) / "accelerate" / "programs";
}

fs::path compile_program(const std::string& source, const BuildRecipe& recipe, const fs::path& cache) {
  if (access(source.c_str(), R_OK) != 0) fail("'", source, "' does not exist here, or cannot be read");
  auto directory = cache / key_of(recipe).add(fs::absolute(source).string()).hex();
  auto program = directory / "program";
  if (is_current(directory)) return program;

  auto header = precompiled_header(recipe, cache);
  fs::create_directories(directory);
  auto made = unfinished(program);
  auto rule = directory / "includes";
  std::vector<std::string> words = {recipe.compiler};
  words.insert(words.end(), recipe.compile_flags.begin(), recipe.compile_flags.end());
  for (const auto& word : {std::string("-MMD"), std::string("-MF"), rule.string(), std::string("-include"),
                           header.string(), source, std::string("-o"), made.string()}) {
    words.push_back(word);
  }
  words.insert(words.end(), recipe.link_flags.begin(), recipe.link_flags.end());
  run_compiler(words, source);

  auto paths = dependencies_in(rule, header);
  std::ofstream record(directory / "sources");
  record << key_of_files(paths) << '\n';
  for (const auto& path : paths) record << path.string() << '\n';
  record.close();
  fs::rename(made, program);
  return program;
}

}  // namespace accelerate::launch
