#include "notebook/worker/run_cell.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <iostream>
#include <map>
#include <sstream>

#include "notebook/cells/cell_parts.h"
#include "notebook/runtime/flush_output.h"
#include "notebook/runtime/messages.h"
#include "notebook/runtime/timing.h"
#include "notebook/runtime/value_text.h"
#include "notebook/worker/interrupts.h"

namespace accelerate::notebook {

namespace {

using nlohmann::json;

void run_shell(const std::string& command) {
  flush_output();
  pid_t shell = fork();
  if (shell == 0) {
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);  // the kernel ignores it, and so does this process
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  if (shell < 0) fail("!", command, ": the shell cannot be started");
  int status = 0;
  while (waitpid(shell, &status, 0) < 0 && errno == EINTR) {
  }
}

void load_library(const std::string& name) {
  if (dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
  std::string reason = dlerror();
  if (name.find('/') == std::string::npos && dlopen(("lib" + name + ".so").c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr)
    return;
  fail("%lib: ", reason);
}

/// Counts a run under this number.
CodeOrigin new_run(const CellPart& part, int number) {
  static std::map<int, int> num_runs;  // by the number of the cell
  return {.number = number, .first_line = part.line, .run = ++num_runs[number]};
}

void run_code(Interpreter& interpreter, const CellPart& part, int number) {
  auto is_known = [&](const std::string& name) { return interpreter.is_known(name); };
  auto origin = new_run(part, number);
  interpreter.check_brackets(part.text, origin);
  interpreter.run(rewrite_cell(part.text, origin, is_known));
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void run_timed(Interpreter& interpreter, const CellPart& part, int number) {
  auto begin = std::chrono::steady_clock::now();
  double cpu_begin = cpu_seconds();
  run_code(interpreter, part, number);
  std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  std::cout << "CPU time " << duration_text(cpu_seconds() - cpu_begin) << ", wall time " << duration_text(wall.count())
            << std::endl;
}

void run_repeatedly(Interpreter& interpreter, const CellPart& part, int number) {
  auto origin = new_run(part, number);
  interpreter.check_brackets(part.text, origin);
  interpreter.run({timed_cell(part.text, origin, part.loops, part.repeats)});
}

void run_part(Interpreter& interpreter, const CellPart& part, int number) {
  switch (part.kind) {
    case PartKind::Code:
      return run_code(interpreter, part, number);
    case PartKind::Shell:
      return run_shell(part.text);
    case PartKind::Include:
      return interpreter.add_include_directory(part.text);
    case PartKind::Library:
      return load_library(part.text);
    case PartKind::Time:
      return run_timed(interpreter, part, number);
    case PartKind::TimeIt:
      return run_repeatedly(interpreter, part, number);
  }
}

json error(const std::string& name, const std::string& value, const std::vector<std::string>& traceback) {
  return {{"status", "error"}, {"ename", name}, {"evalue", value}, {"traceback", traceback}};
}

/// What libtorch adds to its messages, the addresses of the calls, says nothing to the reader of a notebook.
std::string without_backtrace(const std::string& message) {
  return message.substr(0, message.find("\nException raised from "));
}

/// An error of the running cell, with the line of its statement.
json thrown(const std::string& name, const std::string& value, const std::string& cell, int number) {
  std::vector<std::string> traceback;
  if (running_line > 0) {
    std::istringstream lines(cell);
    std::string line;
    for (int i = 0; i < running_line; ++i) std::getline(lines, line);
    traceback.push_back("In[" + std::to_string(number) + "], line " + std::to_string(running_line) + ":\n    " + line);
  }
  traceback.push_back(name + (value.empty() ? "" : ": " + value));
  return error(name, value, traceback);
}

}  // namespace

json run_cell(Interpreter& interpreter, const std::string& cell, int number) {
  running_line = 0;
  forget_interrupts();
  interpreter.begin_cell(number, cell);
  try {
    for (const auto& part : parts_of(cell)) {
      run_part(interpreter, part, number);
      if (was_interrupted())
        throw Interrupted("the cell was interrupted, and stopped at the next command or at its end");
    }
    return {{"status", "ok"}};
  } catch (const Interrupted& problem) {
    return error("KeyboardInterrupt", problem.what(), {std::string("KeyboardInterrupt: ") + problem.what()});
  } catch (const CompileError& problem) {
    return error("CompileError", problem.what(), {problem.report()});
  } catch (const std::exception& problem) {
    return thrown(type_text(typeid(problem)), without_backtrace(problem.what()), cell, number);
  } catch (...) {
    const auto* type = abi::__cxa_current_exception_type();
    return thrown(type ? type_text(*type) : "exception", "", cell, number);
  }
}

}  // namespace accelerate::notebook
