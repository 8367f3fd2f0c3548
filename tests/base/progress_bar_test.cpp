#include "accelerate/base/progress_bar.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "accelerate/base/environment.h"
#include "accelerate/base/log.h"
#include "tests/support/captured_stderr.h"

using namespace accelerate;

namespace {

/// A screen of `width` characters (0: a file) and a clock that the test moves.
struct Screen {
  explicit Screen(int width) : width(width) {}

  ProgressOutput output() {
    return {.stream = &text, .terminal_width = [this] { return width; }, .clock = [this] { return seconds; }};
  }
  size_t draws() const {
    auto shown = text.str();
    return std::count(shown.begin(), shown.end(), width > 0 ? '\r' : '\n');
  }
  std::string last_line() const {
    auto shown = text.str();
    if (!shown.empty() && shown.back() == '\n') shown.pop_back();
    return shown.substr(shown.find_last_of("\r\n") + 1);
  }

  int width;
  double seconds = 100;
  std::ostringstream text;
  PatchEnvironment locale{{"LC_ALL", "C"}};
};

}  // namespace

TEST_CASE("a terminal shows the bar at once and redraws it at most ten times a second") {
  Screen screen(60);
  ProgressBar bar(1000, {.output = screen.output()});
  CHECK(screen.draws() == 1);
  CHECK(screen.last_line().find("  0%|") == 0);
  for (int step = 0; step < 1000; ++step) {
    screen.seconds += 0.001;
    bar.update();
  }
  CHECK(screen.draws() >= 9);
  CHECK(screen.draws() <= 11);
  bar.close();
  CHECK(screen.last_line().find("100%|") == 0);
  CHECK(screen.last_line().find("1000/1000 [00:01<00:00, 1000.00it/s]") != std::string::npos);
  CHECK(screen.text.str().back() == '\n');
  CHECK(bar.done() == 1000);
}

TEST_CASE("a bar that does not stay is wiped away") {
  Screen screen(60);
  ProgressBar(10, {.leave = false, .output = screen.output()}).update(10);
  CHECK(screen.text.str().ends_with("\r\033[K"));
}

TEST_CASE("a file gets a plain line every ten seconds and one at the end, without control characters") {
  Screen screen(0);
  {
    ProgressBar bar(200, {.description = "train", .output = screen.output()});
    for (int step = 0; step < 200; ++step) {
      screen.seconds += 0.125;
      bar.update();
    }
    CHECK(screen.draws() == 2);
  }
  CHECK(screen.text.str() ==
        "train:  40% 80/200 [00:10<00:15,  8.00it/s]\n"
        "train:  80% 160/200 [00:20<00:05,  8.00it/s]\n"
        "train: 100% 200/200 [00:25<00:00,  8.00it/s]\n");
}

TEST_CASE("closing twice, or after a line that said it all, adds nothing") {
  Screen screen(0);
  ProgressBar bar(1, {.output = screen.output()});
  screen.seconds += 20;
  bar.update();
  bar.close();
  bar.close();
  CHECK(screen.draws() == 1);
}

TEST_CASE("the rate follows the last moments, and the end shows the average") {
  Screen screen(80);
  ProgressBar bar(1000, {.output = screen.output()});
  for (int i = 0; i < 10; ++i) {
    screen.seconds += 1;
    bar.update(10);
  }
  CHECK(screen.last_line().find(" 10.00it/s") != std::string::npos);
  for (int i = 0; i < 40; ++i) {
    screen.seconds += 1;
    bar.update(20);
  }
  CHECK(screen.last_line().find(" 20.00it/s") != std::string::npos);
  bar.close();
  CHECK(screen.last_line().find(" 18.00it/s") != std::string::npos);
}

TEST_CASE("description and postfix can change on the way") {
  Screen screen(0);
  ProgressBar bar(std::nullopt, {.output = screen.output()});
  bar.set_description("epoch 2");
  bar.set_postfix({{"loss", 0.123456}, {"lr", 3e-5}});
  bar.update(5);
  bar.close();
  CHECK(screen.text.str() == "epoch 2: 5it [00:00, ?it/s, loss=0.123, lr=3e-05]\n");
}

TEST_CASE("only the first process of a machine shows a bar, unless all are asked to") {
  Screen screen(60);
  set_log_context({.rank = 3, .local_rank = 1, .world_size = 4});
  ProgressBar silent(10, {.output = screen.output()});
  silent.update(10);
  silent.close();
  CHECK(screen.text.str() == "");
  CHECK(silent.done() == 10);
  ProgressBar(10, {.main_process_only = false, .output = screen.output()}).update(10);
  CHECK(screen.draws() > 0);
  set_log_context({.rank = 2, .local_rank = 0, .world_size = 4});
  Screen other(60);
  ProgressBar(10, {.output = other.output()}).update(10);
  CHECK(other.draws() > 0);
  set_log_context({});
  Screen disabled(60);
  ProgressBar(10, {.disable = true, .output = disabled.output()}).update(10);
  CHECK(disabled.text.str() == "");
}

TEST_CASE("a bar goes to standard error by default") {
  auto text = tests::captured_stderr([] { ProgressBar(3, {.description = "steps"}).update(3); });
  CHECK(text.find("steps: 100% 3/3 [00:00<00:00, ") == 0);
}

TEST_CASE("a full bar is shown at once, even if it is never closed") {
  Screen screen(60);
  ProgressBar bar(10, {.output = screen.output()});
  for (int step = 0; step < 10; ++step) bar.update();
  CHECK(screen.draws() == 2);
  CHECK(screen.last_line().find("100%|") == 0);
  bar.update();
  CHECK(screen.draws() == 2);
}

TEST_CASE("open bars are drawn as they are, once, until they are closed") {
  Screen screen(60);
  ProgressBar bar(10, {.output = screen.output()});
  bar.update(4);
  CHECK(screen.last_line().find("  0%|") == 0);
  for (int time = 0; time < 2; ++time) draw_open_bars();
  CHECK(screen.draws() == 2);
  CHECK(screen.last_line().find(" 40%|") == 0);
  bar.close();
  bar.update(2);
  draw_open_bars();
  CHECK(screen.last_line().find(" 40%|") == 0);
}

TEST_CASE("a bar that is no terminal's writes no additional line") {
  Screen screen(0);
  ProgressBar bar(10, {.output = screen.output()});
  bar.update(10);
  draw_open_bars();
  CHECK(screen.draws() == 0);
}
