#include "cli/help_page.h"

#include <iostream>
#include <sstream>

#include "accelerate/base/scope.h"

namespace accelerate::cli {

namespace {

std::vector<std::string> split(const std::string& text, char divider) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, divider);) parts.push_back(part);
  return parts;
}

/// "-n,--num_processes TEXT:{a,b} REQUIRED" taken apart.
HelpEntry parse_names(const std::string& text) {
  HelpEntry entry;
  std::istringstream words(text);
  std::string names;
  words >> names;
  entry.names = split(names, ',');
  for (std::string word; words >> word;) {
    if (word == "REQUIRED" || word == "...") continue;
    entry.value += (entry.value.empty() ? "" : " ") + word;
  }
  auto open = entry.value.find('{'), close = entry.value.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return entry;
  entry.choices = split(entry.value.substr(open + 1, close - open - 1), ',');
  entry.value = entry.value.substr(open, close - open + 1);
  return entry;
}

std::string trim(const std::string& text) {
  auto begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

void append(std::string& text, const std::string& more) { text += (text.empty() || more.empty() ? "" : " ") + more; }

}  // namespace

HelpPage parse_help(const std::string& command, const std::string& summary, const std::string& text) {
  HelpPage page{.command = command, .summary = summary, .purpose = "", .usage = "", .entries = {}};
  const std::string usage = "Usage: ";
  for (const auto& line : split(text, '\n')) {
    if (line.starts_with(usage)) {
      page.usage = line.substr(usage.size());
    } else if (page.usage.empty()) {
      append(page.purpose, line);
    } else if (line.starts_with("   ")) {
      if (!page.entries.empty()) append(page.entries.back().meaning, trim(line));
    } else if (line.starts_with("  ")) {
      auto gap = line.find("  ", 2);
      page.entries.push_back(parse_names(line.substr(2, gap == std::string::npos ? gap : gap - 2)));
      if (gap != std::string::npos) page.entries.back().meaning = trim(line.substr(gap));
    } else if (!line.ends_with(":")) {
      append(page.purpose, line);  // what stands below the flags
    }
  }
  return page;
}

std::string captured_output(const std::function<void()>& body) {
  std::ostringstream text;
  auto* previous = std::cout.rdbuf(text.rdbuf());
  ScopeExit restore([&] { std::cout.rdbuf(previous); });
  body();
  return text.str();
}

}  // namespace accelerate::cli
