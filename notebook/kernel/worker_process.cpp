#include "notebook/kernel/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"
#include "accelerate/process/exit_status.h"
#include "accelerate/process/standard_streams.h"

namespace accelerate::notebook {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kNoStart = "the notebook cannot start its interpreter";
constexpr auto kGrace = std::chrono::seconds(4);  // longer than notebook_launcher gives its ranks
constexpr unsigned short kColumns = 80;           // what a window of 1200 pixels shows in one line
constexpr size_t kTerminalBytes = 1 << 16;        // more than a terminal holds; FIONREAD tells of its first 4 kB only

// The interval between two output messages. Jupyter drops messages that arrive too fast, possibly including the one
// that reports the end of the cell.
constexpr std::chrono::milliseconds kPause(50);

/// A pseudo-terminal for the output of cells, so that programs are line-buffered and draw progress bars.
Pipe open_terminal() {
  auto terminal = process::open_terminal({.ws_row = 40, .ws_col = kColumns, .ws_xpixel = 0, .ws_ypixel = 0});
  if (!terminal) fail("the notebook has no terminal: ", std::strerror(errno));
  return std::move(*terminal);
}

/// In the child. The two pipes stay open under their numbers.
[[noreturn]] void become_worker(const std::vector<std::string>& command, const Pipe& requests, const Pipe& replies,
                                const Pipe& output, const Pipe& errors) {
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(output.write_end.get(), STDOUT_FILENO);
  dup2(errors.write_end.get(), STDERR_FILENO);
  for (int kept : {requests.read_end.get(), replies.write_end.get()}) fcntl(kept, F_SETFD, 0);
  setenv("LC_CTYPE", "C.UTF-8", /*overwrite=*/0);
  std::vector<std::string> words = {command.front(), std::to_string(requests.read_end.get()),
                                    std::to_string(replies.write_end.get())};
  words.insert(words.end(), command.begin() + 1, command.end());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

void WorkerProcess::start() {
  stop();
  auto requests = open_pipe(kNoStart), replies = open_pipe(kNoStart);
  auto output = open_terminal(), errors = open_terminal();
  pid_ = fork();
  if (pid_ == 0) become_worker(command_, requests, replies, output, errors);
  if (pid_ < 0) fail(kNoStart, ": fork: ", std::strerror(errno));
  setpgid(pid_, pid_);
  requests_ = std::move(requests.write_end);
  replies_ = std::move(replies.read_end);
  streams_[0] = {.terminal = std::move(output.read_end), .name = "stdout"};
  streams_[1] = {.terminal = std::move(errors.read_end), .name = "stderr"};
  reader_ = FrameReader(replies_.get());
  was_interrupted_ = false;
}

void WorkerProcess::stop() {
  if (pid_ < 0) return;
  kill(-pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  end_ = process::describe_exit(status);
  pid_ = -1;
}

void WorkerProcess::send(const nlohmann::json& request) { write_frame(requests_.get(), request.dump()); }

size_t WorkerProcess::read_some(Stream& stream) {
  char block[1 << 14];
  auto size = read(stream.terminal.get(), block, sizeof(block));
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
  if (size <= 0) {
    stream.terminal = Descriptor();
    return 0;
  }
  stream.unsent += stream.text.add({block, static_cast<size_t>(size)});
  return static_cast<size_t>(size);
}

void WorkerProcess::pass_on(Stream& stream, const WorkerEvents& events) {
  if (stream.unsent.empty()) return;
  events.printed(stream.name, std::exchange(stream.unsent, {}));
  stream.next_time = Clock::now() + kPause;
}

void WorkerProcess::pass_on_all(const WorkerEvents& events) {
  for (auto& stream : streams_) {
    pollfd ready{stream.terminal.get(), POLLIN, 0};
    // A program may print without pause: more than a terminal holds was written after this call began.
    for (size_t size = 0; size < kTerminalBytes && stream.terminal && poll(&ready, 1, 0) > 0;)
      size += read_some(stream);
    pass_on(stream, events);
  }
}

std::optional<nlohmann::json> WorkerProcess::wait_until_done(const WorkerEvents& events, int descriptor_of_interrupts) {
  std::optional<Clock::time_point> kill_at;
  for (;;) {
    pollfd ready[] = {{replies_.get(), POLLIN, 0},
                      {streams_[0].terminal.get(), POLLIN, 0},
                      {streams_[1].terminal.get(), POLLIN, 0},
                      {descriptor_of_interrupts, POLLIN, 0}};
    poll(ready, std::size(ready), static_cast<int>(kPause.count()));
    if (ready[3].revents != 0 && events.interrupted()) {
      kill(-pid_, SIGINT);
      if (!kill_at) kill_at = Clock::now() + kGrace;
    }
    if (kill_at && Clock::now() > *kill_at) {
      was_interrupted_ = true;
      stop();
      pass_on_all(events);
      return std::nullopt;
    }
    if (ready[0].revents == 0) {
      for (size_t i : {0, 1}) {
        if (ready[1 + i].revents != 0) read_some(streams_[i]);
        if (Clock::now() >= streams_[i].next_time) pass_on(streams_[i], events);
      }
      continue;
    }
    pass_on_all(events);  // was printed before the message that has come
    bool alive = reader_.read_some();
    if (!alive) pass_on_all(events);
    while (auto frame = reader_.take()) {
      auto message = nlohmann::json::parse(*frame);
      if (message["type"] == "done") return message;
      events.message(message);
    }
    if (!alive) {
      stop();  // also ranks that it has left behind
      return std::nullopt;
    }
  }
}

}  // namespace accelerate::notebook
