#include "accelerate/launch/attempt.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <sstream>

#include "accelerate/base/environment.h"
#include "accelerate/base/host_name.h"
#include "accelerate/base/loopback_port.h"
#include "accelerate/launch/crash_report.h"
#include "accelerate/launch/supervisor.h"
#include "accelerate/process/exit_status.h"
#include "accelerate/process/process_limits.h"
#include "accelerate/process/rank_output.h"

namespace accelerate::launch {

namespace {

constexpr size_t kLinesShown = 10;
constexpr size_t kFramesShown = 12;

/// "[default1]:" as torchrun writes it; on a terminal in a colour per rank.
std::string line_prefix(const std::string& role, int local_rank, bool coloured) {
  auto text = "[" + role + std::to_string(local_rank) + "]:";
  if (!coloured) return text;
  return "\033[" + std::to_string(31 + local_rank % 6) + "m" + text + "\033[0m ";
}

/// The target of a rank's stream, or nothing if the rank inherits the launcher's. A single rank does, unless the user
/// wants files: it may be interactive.
std::optional<process::StreamTarget> target_of(const LaunchOptions& options, const std::filesystem::path& directory,
                                               int local_rank, int console) {
  bool is_output = console == STDOUT_FILENO;
  auto chosen = [&](const StreamChoice& choice) {
    return is_output ? choice.output(local_rank) : choice.errors(local_rank);
  };
  bool teed = chosen(options.streams.tee);
  bool redirected = chosen(options.streams.redirects) && !teed;
  if (options.local_processes() == 1 && !teed && !redirected) return std::nullopt;
  process::StreamTarget target{.local_rank = local_rank, .is_errors = !is_output, .console = redirected ? -1 : console};
  if (teed || redirected) target.file = directory / (is_output ? "stdout.log" : "stderr.log");
  bool on_terminal = isatty(console) != 0;
  if (teed || on_terminal) {
    target.prefix = line_prefix(options.role, local_rank, on_terminal && !environment_variable("NO_COLOR"));
  }
  return target;
}

/// A single rank joins the shell's job, so that it can read the terminal and receives its signals. Several ranks get no
/// input: they would compete for it, and in the background they would be stopped at the first read.
void share_terminal(const LaunchOptions& options, process::ChildProcess::Setup& setup) {
  if (!options.terminal_job) return;
  if (options.local_processes() == 1) {
    setup.group = options.terminal_job;
  } else {
    setup.no_input = true;
  }
}

Rank start_rank(const LaunchOptions& options, const process::Command& command, const Machine& machine,
                const JobDirectory& directory, int local_rank, process::RankOutput& output,
                const process::SignalWatch& signals, uint64_t open_files) {
  int number = options.first_rank() + local_rank;
  auto own_directory = directory.of_rank(machine.restart_count, local_rank);
  auto error_file = own_directory / "error.json";
  process::ChildProcess::Setup setup;
  setup.environment = merge_environment(
      environ, options.ranks_by_mpi ? mpi_environment(options, machine)
                                    : child_environment(options, machine, local_rank, error_file.string()));
  setup.signal_mask = signals.original_mask();
  setup.open_files = open_files;
  share_terminal(options, setup);
  if (number == 0) setup.inherited_fd = machine.store_fd;
  if (auto target = target_of(options, own_directory, local_rank, STDOUT_FILENO)) setup.output = output.open(*target);
  if (auto target = target_of(options, own_directory, local_rank, STDERR_FILENO)) setup.errors = output.open(*target);
  setup.stopped = options.wait_for_debugger == number;
  Rank rank{number, std::make_unique<process::ChildProcess>(command, setup), error_file};
  if (setup.stopped) {
    std::cerr << "accelerate launch: rank " << number << " is waiting for a debugger: gdb -p " << rank.child->pid()
              << ", then continue; or kill -CONT " << rank.child->pid() << std::endl;
  }
  return rank;
}

/// Rank, host, process, exit status, stack trace and last lines of output.
std::string summary_of(const LaunchOptions& options, const Rank& rank, bool others_stopped,
                       const process::RankOutput& output) {
  std::ostringstream text;
  if (options.ranks_by_mpi) {
    text << "the process";
  } else {
    text << "rank " << rank.number;
  }
  text << " (pid " << rank.child->pid() << " on " << host_name() << ") of " << options.program << " "
       << process::describe_exit(*rank.child->wait_status());
  if (others_stopped) text << "; the other ranks were stopped";
  if (auto report = read_crash_report(rank.error_file)) {
    std::istringstream message(report->message);
    for (std::string line; std::getline(message, line);) text << "\n  " << line;
    const auto& frames = report->own_frames.empty() ? report->frames : report->own_frames;
    for (size_t i = 0; i < std::min(frames.size(), kFramesShown); ++i) text << "\n    " << frames[i];
  }
  auto lines = output.last_lines(rank.number - options.first_rank(), kLinesShown);
  if (!lines.empty()) text << "\n  its last lines of output:";
  for (const auto& line : lines) text << "\n  | " << line;
  return text.str();
}

/// Exit codes of a shell, the kernel and the dynamic loader for a program that could not be run. A retry would fail in
/// the same way.
bool could_not_start(int exit_code) { return exit_code == 126 || exit_code == 127; }

/// The descriptors that the launcher needs per rank: the pipe and the file of each stream, and a pidfd.
int64_t open_files_of_rank(const LaunchOptions& options) {
  int64_t count = 1;
  for (int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (auto target = target_of(options, "", 0, stream)) count += target->file.empty() ? 2 : 3;
  }
  return count;
}

constexpr int64_t kOtherOpenFiles = 10;  // sockets, the pipe of an exec, open directories

}  // namespace

void check_room(const LaunchOptions& options) {
  auto limits = process::process_limits();
  limits.push_back(process::open_files_limit(open_files_of_rank(options), kOtherOpenFiles));
  std::ostringstream problem;
  problem << name_of(options, "num_processes") << " is " << options.num_processes;
  if (!options.one_machine()) problem << ", that is " << options.local_processes() << " on this machine";
  process::check_process_limits(problem.str(), options.local_processes(), limits);
}

Outcome run_attempt(const LaunchOptions& options, const process::Command& command, Machine machine,
                    const JobDirectory& directory, process::SignalWatch& signals, MachineLink* others) {
  std::optional<LoopbackPort> port;
  if (options.one_machine() && !options.ranks_by_mpi) {
    port.emplace(options.main_process_port.value_or(0));
    machine.main_process_port = port->number();
    machine.store_fd = port->fd();
  }
  process::RankOutput output;
  std::vector<Rank> ranks;
  auto files = process::open_files_limit(open_files_of_rank(options), kOtherOpenFiles);
  auto open_files =
      process::raise_open_files_limit(files.used + files.reserved + files.of_each_process * options.local_processes());
  // Leaves a request to stop to `supervise`, which handles the ranks started so far.
  for (int local_rank = 0; local_rank < options.local_processes() && !signals.stop_is_pending(); ++local_rank) {
    ranks.push_back(start_rank(options, command, machine, directory, local_rank, output, signals, open_files));
  }
  if (ranks.empty()) return stopped_by_signal(signals.request_to_stop(std::chrono::milliseconds(0)));
  port.reset();
  output.start();
  Timeouts timeouts;
  timeouts.after_request = options.shutdown_timeout;
  timeouts.after_failure = std::min(timeouts.after_failure, options.shutdown_timeout);
  GetRemoteState remote_state;
  if (others) remote_state = [others] { return others->remote_state(); };
  auto outcome = supervise(ranks, signals, timeouts, remote_state);
  output.finish();
  if (!outcome.failed) return outcome;
  outcome.message = summary_of(options, ranks[*outcome.failed], outcome.others_stopped, output);
  outcome.may_retry = outcome.stopped_by == 0 && !could_not_start(outcome.exit_code);
  return outcome;
}

}  // namespace accelerate::launch
