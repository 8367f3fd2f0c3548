#include "cli/prompt.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"

namespace accelerate::cli {

namespace {

constexpr const char* kHideCursor = "\x1b[?25l";
constexpr const char* kShowCursor = "\x1b[?25h";
constexpr const char* kClearBelow = "\x1b[J";
constexpr const char* kClearLine = "\x1b[2K";

/// The terminal giving every key at once and showing none, until the scope ends.
class RawTerminal {
 public:
  RawTerminal() {
    tcgetattr(STDIN_FILENO, &saved_);
    auto raw = saved_;
    raw.c_lflag &= ~(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    std::cout << kHideCursor;
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal() {
    tcsetattr(STDIN_FILENO, TCSADRAIN, &saved_);
    std::cout << kShowCursor << std::flush;
  }

 private:
  termios saved_ = {};
};

enum class Key { Up, Down, Enter, Digit, Interrupt, End, Other };

struct KeyPress {
  Key key;
  int digit = 0;
};

/// The next byte, or nothing at the end of the input.
std::optional<char> read_byte() {
  char byte = 0;
  ssize_t size = 0;
  do {
    size = read(STDIN_FILENO, &byte, 1);
  } while (size < 0 && errno == EINTR);
  return size == 1 ? std::optional(byte) : std::nullopt;
}

/// The letter of an arrow key after its ESC [ or ESC O; 0 for a bare Escape.
char read_escape() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, 50) != 1) return 0;
  auto introducer = read_byte();
  if (introducer != '[' && introducer != 'O') return 0;
  return read_byte().value_or(0);
}

KeyPress read_key() {
  auto byte = read_byte();
  if (!byte) return {Key::End};
  if (*byte >= '0' && *byte <= '9') return {Key::Digit, *byte - '0'};
  switch (*byte) {
    case '\r':
    case '\n':
      return {Key::Enter};
    case 'k':
      return {Key::Up};
    case 'j':
      return {Key::Down};
    case 3:  // Ctrl-C
    case 4:  // Ctrl-D
      return {Key::Interrupt};
    case '\x1b': {
      auto letter = read_escape();
      return {letter == 'A' ? Key::Up : letter == 'B' ? Key::Down : Key::Other};
    }
  }
  return {Key::Other};
}

/// The options that are on the screen: all, or as many as have room below the question.
class Window {
 public:
  explicit Window(const std::vector<std::string>& options) : options_(options) {
    winsize screen{};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &screen) == 0 && screen.ws_row > 0;
    size_t room = known ? std::max(screen.ws_row - 2, 1) : options.size();  // the cursor has a line of its own
    lines_ = std::min(options.size(), room);
  }

  size_t lines() const { return lines_; }

  /// Draws the part with the mark, no further from the one before than it has to be.
  void draw(size_t marked) {
    first_ = std::clamp(first_, marked + 1 < lines_ ? 0 : marked + 1 - lines_, marked);
    for (size_t i = first_; i < first_ + lines_; ++i) {
      std::cout << kClearLine << (i == marked ? "\x1b[1m > " : "   ") << i << ") " << options_[i] << "\x1b[0m\n";
    }
    std::cout << std::flush;
  }

 private:
  const std::vector<std::string>& options_;
  size_t lines_;
  size_t first_ = 0;
};

void move_up(size_t lines) { std::cout << "\x1b[" << lines << "A\r"; }

/// Lets keys move the mark until one ends it. The last drawing stays on the screen.
KeyPress run_menu(const std::vector<std::string>& options, Window& window, size_t& marked) {
  RawTerminal raw;
  int64_t typed = 0;  // so that 1 and then 0 is option 10
  while (true) {
    window.draw(marked);
    auto press = read_key();
    int64_t count = options.size();
    if (press.key == Key::Up) marked = (marked + count - 1) % count;
    if (press.key == Key::Down) marked = (marked + 1) % count;
    if (press.key == Key::Digit) {
      typed = typed * 10 + press.digit < count ? typed * 10 + press.digit : press.digit;
      if (typed < count) marked = typed;
    } else {
      typed = 0;
    }
    if (press.key == Key::Enter || press.key == Key::Interrupt || press.key == Key::End) return press;
    move_up(window.lines());
  }
}

}  // namespace

bool can_draw_menus() {
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && environment_variable("TERM").value_or("dumb") != "dumb";
}

size_t draw_menu(const std::string& question, const std::vector<std::string>& options, size_t preset) {
  std::cout << question << "\n";
  size_t marked = preset;
  Window window(options);
  auto last = run_menu(options, window, marked);
  if (last.key == Key::Interrupt) {
    raise(SIGINT);
    fail("interrupted");
  }
  if (last.key == Key::End)
    fail("the input ended at the question '", question, "'; use --non_interactive to ask nothing");
  move_up(window.lines() + 1);
  std::cout << kClearBelow << question << ": " << options[marked] << std::endl;
  return marked;
}

}  // namespace accelerate::cli
