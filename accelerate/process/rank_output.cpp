#include "accelerate/process/rank_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "accelerate/base/error.h"
#include "accelerate/base/thread_without_signals.h"
#include "accelerate/process/standard_streams.h"

namespace accelerate::process {

namespace {

constexpr size_t kChunkBytes = 1 << 16;
constexpr size_t kTailBytes = 1 << 13;    // kept of each stream for failure reports
constexpr size_t kLongestLine = 1 << 20;  // longer lines are split, to bound memory

constexpr const char* kProblem = "the output of a rank cannot be captured";

void keep_tail(std::string& tail, std::string_view text) {
  if (text.size() > kTailBytes) text.remove_prefix(text.size() - kTailBytes);
  tail.append(text);
  if (tail.size() > 4 * kTailBytes) tail.erase(0, tail.size() - kTailBytes);
}

}  // namespace

struct RankOutput::Stream {
  StreamTarget target;
  bool on_terminal = false;
  Descriptor ours;    // the read end
  Descriptor theirs;  // the rank's end, open until the rank has started
  Descriptor file;
  bool at_end = false;
  std::string pending;  // read, but not yet written to the console
  std::string tail;
};

RankOutput::RankOutput() = default;

RankOutput::~RankOutput() {
  finish();
  close_all();
}

int RankOutput::open(const StreamTarget& target) {
  auto stream = std::make_unique<Stream>();
  stream->target = target;
  stream->on_terminal = target.console >= 0 && isatty(target.console) != 0;
  winsize size{};  // of the user's terminal
  ioctl(target.console, TIOCGWINSZ, &size);
  auto terminal = stream->on_terminal ? open_terminal(size) : std::nullopt;
  auto ends = terminal ? std::move(*terminal) : open_pipe(kProblem);
  stream->ours = std::move(ends.read_end);
  stream->theirs = std::move(ends.write_end);
  fcntl(stream->ours.get(), F_SETFL, O_NONBLOCK);
  if (!target.file.empty()) {
    stream->file = Descriptor(::open(target.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!stream->file) fail(target.file, " cannot be written: ", std::strerror(errno));
  }
  streams_.push_back(std::move(stream));
  return streams_.back()->theirs.get();
}

void RankOutput::start() {
  for (auto& stream : streams_) stream->theirs = Descriptor();
  if (streams_.empty()) return;
  wake_ = Descriptor(eventfd(0, EFD_CLOEXEC));
  if (!wake_) fail(kProblem, ": eventfd: ", std::strerror(errno));
  thread_ = thread_without_signals([this] { forward(); });  // with SIGPIPE blocked, write fails with EPIPE
}

void RankOutput::finish() {
  if (!thread_.joinable()) return;
  eventfd_write(wake_.get(), 1);
  thread_.join();
  wake_ = Descriptor();
}

void RankOutput::close_all() {
  for (auto& stream : streams_) {
    for (auto* descriptor : {&stream->ours, &stream->theirs, &stream->file}) *descriptor = Descriptor();
  }
}

void RankOutput::forward() {
  std::string chunk(kChunkBytes, '\0');
  bool ending = false;
  while (true) {
    std::vector<pollfd> waits = {{wake_.get(), POLLIN, 0}};
    for (const auto& stream : streams_) waits.push_back({stream->at_end ? -1 : stream->ours.get(), POLLIN, 0});
    poll(waits.data(), waits.size(), ending ? 0 : -1);
    ending = ending || waits[0].revents != 0;
    bool forwarded = false;
    for (size_t i = 0; i < streams_.size(); ++i) {
      auto& stream = *streams_[i];
      if (waits[i + 1].revents == 0) continue;
      auto size = read(stream.ours.get(), chunk.data(), chunk.size());
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      stream.at_end = size <= 0;
      forwarded = true;
      std::string_view text(chunk.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
      if (stream.file) write_all(stream.file.get(), text);
      keep_tail(stream.tail, text);
      if (stream.target.console < 0) continue;
      stream.pending.append(text);
      if (stream.at_end && !stream.pending.empty() && stream.pending.back() != '\n') stream.pending += '\n';
      write_console(stream);
    }
    if (ending && !forwarded) break;
  }
  for (auto& stream : streams_) {
    if (stream->pending.empty()) continue;
    stream->pending += '\n';
    write_console(*stream);
  }
}

/// Writes the complete lines of the pending text. On a terminal, a progress bar has no newline until it is complete. It
/// is written at once, and erased when another rank has output.
void RankOutput::write_console(Stream& stream) {
  std::string_view rest = stream.pending;
  std::string text;
  auto make_room = [&] {
    if (unfinished_ != nullptr && unfinished_ != &stream) text += "\r\033[K";
    unfinished_ = nullptr;
  };
  bool plain = stream.target.prefix.empty() && !stream.on_terminal;
  if (plain) {
    auto whole = rest.rfind('\n') + 1;  // 0 if there is no newline
    text.assign(rest.substr(0, whole));
    rest.remove_prefix(whole);
  }
  for (size_t end; !plain && (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    bool continues_bar = rest[0] == '\r' || unfinished_ == &stream;
    make_room();
    if (!continues_bar) text += stream.target.prefix;
    text.append(rest.substr(0, end + 1));
  }
  bool bar = stream.on_terminal && !rest.empty() && (rest[0] == '\r' || unfinished_ == &stream);
  if (bar || rest.size() > kLongestLine) {
    make_room();
    text.append(rest);
    rest = {};
    if (bar) unfinished_ = &stream;
  }
  stream.pending = std::string(rest);
  if (write_all(stream.target.console, text)) return;
  // The console is closed. Close the stream, so that the rank gets the same error as if it wrote there itself.
  stream.ours = Descriptor();
  stream.at_end = true;
  stream.pending.clear();
}

std::vector<std::string> RankOutput::last_lines(int local_rank, size_t count) const {
  std::string_view text;
  for (const auto& stream : streams_) {
    if (stream->target.local_rank != local_rank || stream->tail.empty()) continue;
    if (text.empty() || stream->target.is_errors) text = stream->tail;
  }
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < count) {
    if (text.back() == '\n') text.remove_suffix(1);
    auto begin = text.find_last_of("\n\r") + 1;  // of a progress bar only the final state
    auto line = text.substr(begin);
    if (!line.empty()) lines.emplace(lines.begin(), line);
    text = text.substr(0, begin == 0 ? 0 : begin - 1);
  }
  return lines;
}

}  // namespace accelerate::process
