#include "cli/launch_command.h"

#include <algorithm>
#include <iostream>

#include "accelerate/launch/launch.h"
#include "cli/command_line.h"

namespace accelerate::cli {

namespace {

void add_flags(CLI::App& app, launch::LaunchOptions& options) {
  app.get_formatter()->column_width(40);
  app.add_option("--num_processes,-n", options.num_processes,
                 "Processes of all machines together; by default one for each GPU, or one");
  app.add_option("--num_machines", options.num_machines, "Machines that take part");
  app.add_option("--machine_rank", options.machine_rank, "Number of this machine, from 0");
  app.add_option("--main_process_ip", options.main_process_ip, "Address of machine 0, when there are several");
  app.add_option("--main_process_port", options.main_process_port,
                 "Port on which rank 0 meets the others; on one machine any free port by default");
  app.add_option("--mixed_precision", options.mixed_precision, "no, fp16 or bf16");
  app.add_flag("--cpu", options.use_cpu, "Stay on the CPU although there is a GPU");
  app.add_flag("--debug", options.debug, "Compare what ranks send to each other before they do");
  app.add_option("--num_cpu_threads_per_process", options.num_cpu_threads_per_process,
                 "Threads of each process; by default the cores are shared out, or OMP_NUM_THREADS");
  // These two are cut off before the flags are parsed; here they only appear in the help.
  app.add_option("program", options.program, "Program to run: an executable, or a .py file for python3");
  app.add_option("arguments", options.arguments, "Everything after the program belongs to it");
}

/// Returns false when the user asked for help, which has then been given.
bool parse(CLI::App& app, std::vector<std::string> flags) {
  std::reverse(flags.begin(), flags.end());  // as CLI11 takes them
  try {
    app.parse(std::move(flags));
    return true;
  } catch (const CLI::CallForHelp& help) {
    app.exit(help);
    return false;
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

int launch_command(const std::vector<std::string>& arguments) {
  launch::LaunchOptions options;
  options.num_processes = std::max(1, launch::count_gpus());
  CLI::App app("Starts a program on several processes, which find each other through their environment.",
               "accelerate launch");
  add_flags(app, options);
  auto line = split_at_program(app, arguments);
  if (!parse(app, line.flags)) return 0;
  if (line.program.empty())
    throw UsageError("no program to run; usage: accelerate launch [OPTIONS] program [arguments...]");
  options.program = line.program.front();
  options.arguments.assign(line.program.begin() + 1, line.program.end());
  try {
    check(options);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }

  auto outcome = launch::launch(options);
  if (!outcome.message.empty()) std::cerr << "accelerate launch: " << outcome.message << '\n';
  return outcome.exit_code;
}

}  // namespace accelerate::cli
