#include "cli/commands.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "accelerate/base/version.h"
#include "cli/command_line.h"

namespace accelerate::cli {

namespace {

namespace fs = std::filesystem;

/// Text in which troff finds nothing to obey.
std::string escaped(const std::string& text) {
  std::string result = text.starts_with(".") || text.starts_with("'") ? "\\&" : "";
  for (char letter : text) {
    if (letter == '\\') {
      result += "\\e";
    } else if (letter == '-') {
      result += "\\-";
    } else {
      result += letter;
    }
  }
  return result;
}

std::string heading(const std::string& name, const std::string& summary) {
  return ".TH \"" + name + "\" 1 \"\" \"accelerate " + kVersion + "\" \"User Commands\"\n.SH NAME\n" + escaped(name) +
         " \\- " + escaped(summary) + "\n";
}

std::string overview(const std::string& summary, const std::vector<HelpPage>& pages) {
  std::ostringstream out;
  out << heading("accelerate", summary) << ".SH SYNOPSIS\n.B accelerate\n.I COMMAND\n[OPTIONS]\n.SH COMMANDS\n";
  for (const auto& page : pages) {
    out << ".TP\n.BR accelerate\\-" << escaped(page.command) << " (1)\n" << escaped(page.summary) << "\n";
  }
  return out.str();
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) fail(path.string(), ": cannot be written");
}

}  // namespace

std::string man_page(const HelpPage& page) {
  std::ostringstream out;
  out << heading("accelerate-" + page.command, page.summary) << ".SH SYNOPSIS\n"
      << escaped(page.usage) << "\n.SH DESCRIPTION\n"
      << escaped(page.purpose) << "\n.SH OPTIONS\n";
  for (const auto& entry : page.entries) {
    out << ".TP\n";
    for (size_t i = 0; i < entry.names.size(); ++i)
      out << (i == 0 ? "" : ", ") << "\\fB" << escaped(entry.names[i]) << "\\fR";
    if (!entry.value.empty()) out << " \\fI" << escaped(entry.value) << "\\fR";
    out << "\n" << escaped(entry.meaning) << "\n";
  }
  out << ".SH SEE ALSO\n.BR accelerate (1)\n";
  return out.str();
}

int man_pages_command(const std::vector<std::string>& arguments, const std::string& summary,
                      const std::function<std::vector<HelpPage>()>& help_pages) {
  std::string directory;
  CLI::App app("Writes the manual pages of all commands into a directory.", "accelerate man-pages");
  app.add_option("directory", directory, "The output directory, for example share/man/man1 below an installation");
  if (!parse_arguments(app, arguments)) return 0;
  if (directory.empty()) throw UsageError("no directory is given");
  auto pages = help_pages();
  fs::create_directories(directory);
  write(fs::path(directory) / "accelerate.1", overview(summary, pages));
  for (const auto& page : pages) write(fs::path(directory) / ("accelerate-" + page.command + ".1"), man_page(page));
  return 0;
}

}  // namespace accelerate::cli
