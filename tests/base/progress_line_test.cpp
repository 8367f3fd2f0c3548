#include "accelerate/base/progress_bar.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace accelerate;

namespace {

int count_characters(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace

TEST_CASE("times are minutes and seconds, with hours where there are any") {
  CHECK(format_interval(0) == "00:00");
  CHECK(format_interval(5.9) == "00:05");
  CHECK(format_interval(59.99) == "00:59");
  CHECK(format_interval(754) == "12:34");
  CHECK(format_interval(3599) == "59:59");
  CHECK(format_interval(3723) == "1:02:03");
  CHECK(format_interval(360000) == "100:00:00");
  CHECK(format_interval(-1) == "00:00");
}

TEST_CASE("a line has a percentage, a bar, counts, times, rate and postfix") {
  ProgressState state{
      .done = 45, .total = 100, .elapsed_seconds = 5.3, .rate = 8.5, .description = "train", .postfix = "loss=0.3"};
  CHECK(format_progress(state, 69, BarCells::Ascii) ==
        "train:  45%|######3       | 45/100 [00:05<00:06,  8.50it/s, loss=0.3]");
  CHECK(format_progress(state, 69, BarCells::Blocks) ==
        "train:  45%|██████▎       | 45/100 [00:05<00:06,  8.50it/s, loss=0.3]");
  CHECK(format_progress(state, 0) == "train:  45% 45/100 [00:05<00:06,  8.50it/s, loss=0.3]");
}

TEST_CASE("the bar is empty at the start and full at the end, and the percentage is 100 only there") {
  ProgressState state{.done = 0, .total = 1000};
  CHECK(format_progress(state, 40, BarCells::Ascii) == "  0%|          | 0/1000 [00:00<?, ?it/s]");
  state = {.done = 999, .total = 1000, .elapsed_seconds = 10, .rate = 100};
  CHECK(format_progress(state, 0).find(" 99% 999/1000") == 0);
  state.done = 1000;
  CHECK(format_progress(state, 52, BarCells::Ascii) == "100%|##########| 1000/1000 [00:10<00:00, 100.00it/s]");
}

TEST_CASE("a slow loop shows seconds for each step") {
  ProgressState state{.done = 2, .total = 4, .elapsed_seconds = 5, .rate = 0.4};
  CHECK(format_progress(state, 0) == " 50% 2/4 [00:05<00:05,  2.50s/it]");
  state.unit = "batch";
  CHECK(format_progress(state, 0) == " 50% 2/4 [00:05<00:05,  2.50s/batch]");
}

TEST_CASE("without a total, or past it, only counts are shown") {
  ProgressState state{.done = 7, .elapsed_seconds = 2, .rate = 3.5};
  CHECK(format_progress(state, 0) == "7it [00:02,  3.50it/s]");
  CHECK(format_progress(state, 80) == "7it [00:02,  3.50it/s]");
  state.total = 5;
  CHECK(format_progress(state, 80) == "7it [00:02,  3.50it/s]");
  state.total = 0;
  CHECK(format_progress(state, 80) == "7it [00:02,  3.50it/s]");
}

TEST_CASE("no line is longer than the terminal is wide, and a bar fills what is left") {
  for (int width = 1; width <= 140; ++width) {
    for (int64_t total : {1, 9, 100, 123456}) {
      for (int64_t done = 0; done <= total; done += std::max<int64_t>(1, total / 7)) {
        for (auto description : {"", "train", "Übung für große Modelle"}) {
          for (auto cells : {BarCells::Ascii, BarCells::Blocks}) {
            ProgressState state{
                .done = done, .total = total, .elapsed_seconds = 12, .rate = 3, .description = description};
            auto line = format_progress(state, width, cells);
            REQUIRE(count_characters(line) <= width);
            if (line.find('|') != std::string::npos) REQUIRE(count_characters(line) == width);
          }
        }
      }
    }
  }
}
