#include "notebook/kernel/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "accelerate/base/error.h"
#include "accelerate/base/exit_status.h"

namespace accelerate::notebook {

namespace {

constexpr auto kGrace = std::chrono::seconds(4);  // longer than notebook_launcher gives its ranks
constexpr unsigned short kColumns = 80;           // what a window of 1200 pixels shows in one line
constexpr size_t kTerminalBytes = 1 << 16;        // more than a terminal holds; FIONREAD tells of its first 4 kB only

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe open_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("the notebook cannot start its interpreter: pipe: ", std::strerror(errno));
  return {ends[0], ends[1]};
}

/// A terminal for what cells print: programs write to it line by line, and draw their progress bars. What is written
/// comes out unchanged.
Pipe open_terminal() {
  int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ours < 0 || grantpt(ours) != 0 || unlockpt(ours) != 0)
    fail("the notebook has no terminal: ", std::strerror(errno));
  int theirs = open(ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (theirs < 0) fail("the notebook has no terminal: ", std::strerror(errno));
  termios settings{};
  tcgetattr(theirs, &settings);
  cfmakeraw(&settings);
  tcsetattr(theirs, TCSANOW, &settings);
  winsize size{.ws_row = 40, .ws_col = kColumns, .ws_xpixel = 0, .ws_ypixel = 0};
  ioctl(theirs, TIOCSWINSZ, &size);
  return {ours, theirs};
}

/// In the child. The two pipes stay open under their numbers.
[[noreturn]] void become_worker(const std::vector<std::string>& command, const Pipe& requests, const Pipe& replies,
                                const Pipe& output, const Pipe& errors) {
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(output.write_end, STDOUT_FILENO);
  dup2(errors.write_end, STDERR_FILENO);
  for (int kept : {requests.read_end, replies.write_end}) fcntl(kept, F_SETFD, 0);
  setenv("LC_CTYPE", "C.UTF-8", /*overwrite=*/0);
  std::vector<std::string> words = {command.front(), std::to_string(requests.read_end),
                                    std::to_string(replies.write_end)};
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
  auto requests = open_pipe(), replies = open_pipe(), output = open_terminal(), errors = open_terminal();
  pid_ = fork();
  if (pid_ == 0) become_worker(command_, requests, replies, output, errors);
  if (pid_ < 0) fail("the notebook cannot start its interpreter: fork: ", std::strerror(errno));
  setpgid(pid_, pid_);
  for (int theirs : {requests.read_end, replies.write_end, output.write_end, errors.write_end}) close(theirs);
  requests_ = requests.write_end;
  replies_ = replies.read_end;
  streams_[0] = {output.read_end, "stdout", {}};
  streams_[1] = {errors.read_end, "stderr", {}};
  reader_ = FrameReader(replies_);
  was_interrupted_ = false;
}

void WorkerProcess::stop() {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    note_end();
  }
  for (int* descriptor : {&requests_, &replies_, &streams_[0].terminal, &streams_[1].terminal}) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
  }
}

void WorkerProcess::note_end() {
  int status = 0;
  waitpid(pid_, &status, 0);
  end_ = describe_exit(status);
  pid_ = -1;
}

void WorkerProcess::send(const nlohmann::json& request) { write_frame(requests_, request.dump()); }

size_t WorkerProcess::pass_on(Stream& stream, const WorkerEvents& events) {
  char block[1 << 14];
  auto size = read(stream.terminal, block, sizeof(block));
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
  if (size <= 0) {
    close(stream.terminal);
    stream.terminal = -1;
    return 0;
  }
  auto text = stream.text.add({block, static_cast<size_t>(size)});
  if (!text.empty()) events.printed(stream.name, text);
  return static_cast<size_t>(size);
}

void WorkerProcess::pass_on_all(const WorkerEvents& events) {
  for (auto& stream : streams_) {
    pollfd ready{stream.terminal, POLLIN, 0};
    // Somebody may print without pause: what exceeds a terminal was not there when this began.
    for (size_t size = 0; size < kTerminalBytes && stream.terminal >= 0 && poll(&ready, 1, 0) > 0;)
      size += pass_on(stream, events);
  }
}

std::optional<nlohmann::json> WorkerProcess::wait_until_done(const WorkerEvents& events, int descriptor_of_interrupts) {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> kill_at;
  for (;;) {
    pollfd ready[] = {{replies_, POLLIN, 0},
                      {streams_[0].terminal, POLLIN, 0},
                      {streams_[1].terminal, POLLIN, 0},
                      {descriptor_of_interrupts, POLLIN, 0}};
    poll(ready, std::size(ready), /*milliseconds=*/100);
    if (ready[3].revents != 0 && events.interrupted()) {
      kill(-pid_, SIGINT);
      if (!kill_at) kill_at = Clock::now() + kGrace;
    }
    if (kill_at && Clock::now() > *kill_at) {
      was_interrupted_ = true;
      stop();
      return std::nullopt;
    }
    if (ready[0].revents == 0) {
      for (size_t i : {0, 1}) {
        if (ready[1 + i].revents != 0) pass_on(streams_[i], events);
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
      kill(-pid_, SIGKILL);  // ranks that it has left behind
      note_end();
      stop();
      return std::nullopt;
    }
  }
}

}  // namespace accelerate::notebook
