#include "cli/commands.h"

#include <iostream>
#include <sstream>

#include "cli/command_line.h"

namespace accelerate::cli {

namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> command_names(const std::vector<HelpPage>& pages) {
  std::vector<std::string> names;
  for (const auto& page : pages) names.push_back(page.command);
  return names;
}

/// All flags of a command, and the values of its words where they are known.
std::vector<std::string> words_of(const HelpPage& page) {
  std::vector<std::string> words;
  for (const auto& entry : page.entries) {
    const auto& more = entry.is_flag() ? entry.names : entry.choices;
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
}

/// Text inside single quotes of a shell, without the characters that mean something to zsh's _arguments.
std::string quoted(const std::string& text) {
  std::string result;
  for (char letter : text) {
    if (letter == '\'') {
      result += "'\\''";
    } else if (letter == '[' || letter == ']' || letter == ':') {
      result += std::string("\\") + letter;
    } else {
      result += letter;
    }
  }
  return result;
}

std::string fish_quoted(const std::string& text) {
  std::string result;
  for (char letter : text) result += (letter == '\'' || letter == '\\' ? "\\" : "") + std::string(1, letter);
  return "'" + result + "'";
}

}  // namespace

std::string bash_completion(const std::vector<HelpPage>& pages) {
  std::ostringstream out;
  out << "# bash completion for accelerate; in ~/.bashrc: source <(accelerate completion bash)\n"
         "_accelerate() {\n"
         "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" words=\"\"\n"
         "  local command=\"${COMP_WORDS[1]}\"\n"
         "  COMPREPLY=()\n"
         "  if [[ $COMP_CWORD == 1 ]]; then\n"
         "    COMPREPLY=($(compgen -W \""
      << join(command_names(pages)) << " --help --version\" -- \"$current\"))\n    return\n  fi\n"
      << "  case \"$command $previous\" in\n";
  for (const auto& page : pages) {
    for (const auto& entry : page.entries) {
      if (!entry.is_flag() || entry.choices.empty()) continue;
      out << "    '" << page.command << " " << entry.names.back() << "') words=\"" << join(entry.choices) << "\" ;;\n";
    }
  }
  out << "  esac\n  if [[ -z $words ]]; then\n    case \"$command\" in\n";
  for (const auto& page : pages) out << "      " << page.command << ") words=\"" << join(words_of(page)) << "\" ;;\n";
  out << "    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
         "complete -o default -F _accelerate accelerate\n";
  return out.str();
}

std::string zsh_completion(const std::vector<HelpPage>& pages) {
  std::ostringstream out;
  out << "#compdef accelerate\n# zsh completion for accelerate; in ~/.zshrc: source <(accelerate completion zsh)\n"
         "_accelerate() {\n  local -a commands\n  commands=(\n";
  for (const auto& page : pages) out << "    '" << page.command << ":" << quoted(page.summary) << "'\n";
  out << "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
         "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const auto& page : pages) {
    out << "    " << page.command << ")\n      _arguments";
    for (const auto& entry : page.entries) {
      if (!entry.is_flag()) continue;
      for (const auto& name : entry.names) {
        out << " \\\n        '" << name << "[" << quoted(entry.meaning) << "]";
        if (!entry.choices.empty()) {
          out << ":value:(" << join(entry.choices) << ")";
        } else if (!entry.value.empty()) {
          out << ":value:_files";
        }
        out << "'";
      }
    }
    for (const auto& entry : page.entries) {
      if (entry.is_flag() || entry.choices.empty()) continue;
      out << " \\\n        '1:" << entry.names.front() << ":(" << join(entry.choices) << ")'";
    }
    out << " \\\n        '*:file:_files'\n      ;;\n";
  }
  out << "  esac\n}\nif [ \"$funcstack[1]\" = \"_accelerate\" ]; then _accelerate \"$@\"; else compdef _accelerate "
         "accelerate; fi\n";
  return out.str();
}

std::string fish_completion(const std::vector<HelpPage>& pages) {
  std::ostringstream out;
  out << "# fish completion for accelerate; in config.fish: accelerate completion fish | source\n";
  for (const auto& page : pages) {
    out << "complete -c accelerate -n __fish_use_subcommand -f -a " << page.command << " -d "
        << fish_quoted(page.summary) << "\n";
  }
  for (const auto& page : pages) {
    auto condition = "complete -c accelerate -n '__fish_seen_subcommand_from " + page.command + "'";
    for (const auto& entry : page.entries) {
      out << condition;
      for (const auto& name : entry.names) {
        if (name.starts_with("--")) out << " -l " << name.substr(2);
        if (name.starts_with("-") && !name.starts_with("--")) out << " -s " << name.substr(1);
      }
      if (entry.is_flag() && !entry.value.empty()) out << " -r";
      if (!entry.choices.empty()) out << " -f -a " << fish_quoted(join(entry.choices));
      out << " -d " << fish_quoted(entry.meaning) << "\n";
    }
  }
  return out.str();
}

int completion_command(const std::vector<std::string>& arguments,
                       const std::function<std::vector<HelpPage>()>& help_pages) {
  std::string shell;
  CLI::App app("Prints a shell script that completes commands, flags and their values.", "accelerate completion");
  app.add_option("shell", shell, "The shell")->check(CLI::IsMember({"bash", "zsh", "fish"}));
  if (!parse_arguments(app, arguments)) return 0;
  if (shell.empty()) throw UsageError("no shell is given; it can be bash, zsh or fish");
  auto pages = help_pages();
  std::cout << (shell == "bash"  ? bash_completion(pages)
                : shell == "zsh" ? zsh_completion(pages)
                                 : fish_completion(pages));
  return 0;
}

}  // namespace accelerate::cli
