#include "accelerate/launch/crash_report.h"

#include <cxxabi.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "accelerate/base/read_file.h"
#include "accelerate/base/utf8.h"
#include "accelerate/process/child_process.h"

namespace accelerate::launch {

namespace {

using Json = nlohmann::json;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

/// Returns a discarded value if the file is not JSON. Programs may write anything, including invalid UTF-8.
Json read_json(const std::filesystem::path& path) {
  return Json::parse(replace_broken_utf8(read_file_if_there(path).value_or("")), nullptr, /*allow_exceptions=*/false);
}

/// Null if the key is missing.
Json value_at(const Json& json, const char* key) {
  auto found = json.is_object() ? json.find(key) : json.end();
  return found == json.end() ? Json() : *found;
}

std::string as_text(const Json& json) {
  if (json.is_null()) return "";
  return json.is_string() ? json.get<std::string>() : json.dump();
}

/// A frame as the crashing process wrote it: "/path/of/module(+0x1234) symbol".
struct RawFrame {
  std::string module;
  std::string address;
  std::string symbol;
};

std::optional<RawFrame> parse_frame(const std::string& line) {
  auto open = line.rfind("(+0x");
  auto close = line.find(')', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  auto symbol = close + 2 <= line.size() ? line.substr(close + 2) : "";
  return RawFrame{line.substr(0, open), line.substr(open + 2, close - open - 2), symbol};
}

/// Whether a module belongs to the system, libtorch or this library: its frames have no file and line of the user.
bool is_foreign(const std::string& module) {
  auto name = module.substr(module.rfind('/') + 1);
  return name.starts_with("libc.so") || name.starts_with("libtorch") || name.starts_with("libc10") ||
         name.starts_with("libstdc++") || name.starts_with("libgcc") || name.starts_with("ld-linux") ||
         name.starts_with("libaccelerate.so") || name.starts_with("linux-vdso");
}

std::string readable(const std::string& symbol) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                   std::free);
  return status == 0 ? name.get() : symbol;
}

/// Whether the line is in a header of the system, libtorch or this library, as with inlined functions.
bool is_of_library(const std::string& line) {
  for (const char* part : {" at /usr/include/", " at /usr/lib/", "/torch/include/", "/include/c++/"}) {
    if (line.find(part) != std::string::npos) return true;
  }
  auto path = line.substr(0, line.rfind(':'));
  return path.find("/accelerate/") != std::string::npos && path.ends_with(".h");
}

/// Parses the output of addr2line: for each address a function and the chain of functions it is inlined into. Omits
/// library functions that are inlined into the user's.
std::vector<std::vector<std::string>> chains_of(const std::string& output) {
  constexpr std::string_view kInlined = " (inlined by) ";
  std::vector<std::vector<std::string>> chains;
  for (auto line : lines_of(output)) {
    if (auto mark = line.rfind(" (discriminator "); mark != std::string::npos) line.resize(mark);
    if (!line.starts_with(kInlined) || chains.empty()) {
      chains.push_back({line});
      continue;
    }
    auto& chain = chains.back();
    if (is_of_library(chain.back())) chain.pop_back();
    chain.push_back(line.substr(kInlined.size()));
  }
  return chains;
}

/// Runs addr2line once per module of the user. Frames that it cannot resolve keep the name of their symbol.
void symbolise(const std::vector<RawFrame>& raw, CrashReport& report) {
  std::map<std::string, std::vector<std::string>> questions;
  std::map<std::string, std::vector<std::vector<std::string>>> answers;
  for (const auto& frame : raw) {
    if (is_foreign(frame.module)) continue;
    auto& words = questions[frame.module];
    if (words.empty()) words = {"addr2line", "-C", "-f", "-i", "-p", "-e", frame.module};
    words.push_back(frame.address);
  }
  for (const auto& [module, words] : questions) {
    answers[module] =
        chains_of(replace_broken_utf8(process::run_and_capture(words).output));  // paths may contain any bytes
  }
  std::map<std::string, size_t> used;
  for (const auto& frame : raw) {
    const auto& chains = answers[frame.module];
    auto index = used[frame.module]++;
    auto name = frame.symbol.empty() ? frame.address : readable(frame.symbol);
    for (const auto& line : index < chains.size() ? chains[index] : std::vector<std::string>{"??"}) {
      bool named = !line.starts_with("??");
      bool placed = line.find("??") == std::string::npos;
      report.frames.push_back(named ? line : name + " in " + frame.module);
      if (placed) report.own_frames.push_back(line);
    }
  }
}

}  // namespace

std::optional<CrashReport> read_crash_report(const std::filesystem::path& error_file) {
  auto json = read_json(error_file);
  if (!json.is_object() || !json.contains("message")) return std::nullopt;
  auto& message = json["message"];
  if (!message.is_object()) return CrashReport{.message = as_text(message)};
  CrashReport report{.message = as_text(value_at(message, "message"))};
  auto lines = lines_of(as_text(value_at(value_at(message, "extraInfo"), "py_callstack")));
  std::vector<RawFrame> raw;
  for (const auto& line : lines) {
    if (auto frame = parse_frame(line)) raw.push_back(*frame);
  }
  if (raw.empty()) {
    report.frames = lines;
    return report;
  }
  symbolise(raw, report);
  std::string callstack;
  for (const auto& frame : report.frames) callstack += frame + "\n";
  message["extraInfo"]["py_callstack"] = callstack;
  std::ofstream(error_file) << json.dump();
  return report;
}

}  // namespace accelerate::launch
