#include "accelerate/tracking/tensorboard_tracker.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include "accelerate/base/error.h"
#include "accelerate/formats/png.h"
#include "accelerate/tracking/file_trackers.h"
#include "accelerate/tracking/formats/event_file.h"
#include "tests/support/hang_limit.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::tracking;

TEST_CASE("the checksum of event files is the masked CRC-32C") {
  CHECK(masked_crc32c("123456789") == ((0xe3069283 >> 15 | 0xe3069283 << 17) + 0xa282ead8));
}

TEST_CASE("an image with the wrong number of values or channels is refused") {
  std::vector<uint8_t> pixels(12);
  CHECK_THROWS_WITH_AS(formats::encode_png(2, 2, 2, pixels), doctest::Contains("2 channels"), Error);
  CHECK_THROWS_WITH_AS(formats::encode_png(2, 3, 3, pixels), doctest::Contains("needs 18 values and has 12"), Error);
  CHECK_THROWS_WITH_AS(formats::encode_png(0, 3, 3, {}), doctest::Contains("0 x 3 pixels"), Error);
}

TEST_CASE("the real TensorBoard reads the same from our files as from those of Python's tracker") {
  tests::TemporaryDirectory directory;
  // The JSON lines tell the Python side what to log.
  JsonlTracker jsonl(directory.path());
  TensorBoardTracker tensorboard(directory.path() / "ours");
  for (Tracker* tracker : std::initializer_list<Tracker*>{&jsonl, &tensorboard}) {
    tracker->start();
    tracker->store_init_configuration({{"lr", 1e-5}, {"layers", 12}, {"optimizer", "adamw \"fused\""}, {"bias", true}});
    for (int step = 0; step < 20; ++step) {
      tracker->log({{"loss", std::exp(-step / 3.0)}, {"step_number", step}}, step);
      tracker->log({{"curves/all", {{"train", std::sqrt(step)}, {"eval", -1.5 * step}}}}, step);
    }
    tracker->log({{"note", "sch\xc3\xb6n, **bold**"}, {"loss", NAN}, {"peak", INFINITY}}, 1000);
    tracker->log({{"without_step", 1}}, std::nullopt);
  }

  std::vector<double> numbers;
  for (int i = -50; i < 200; ++i) numbers.push_back(std::sin(i) * std::pow(10.0, i % 9));
  std::ofstream histogram(directory.path() / "numbers.txt");
  histogram.precision(17);
  for (double number : numbers) histogram << number << "\n";
  histogram.close();
  tensorboard.log_histograms({{"weights", numbers}, {"zeros", {0, 0, 0}}, {"one", {0.25}}}, 7);

  Image image{.height = 150, .width = 200, .channels = 3};
  for (int i = 0; i < 150 * 200 * 3; ++i) image.pixels.push_back(static_cast<uint8_t>(i * i / 7));
  directory.write("pixels.bin", std::string(image.pixels.begin(), image.pixels.end()));
  tensorboard.log_images({{"picture", image}, {"grey", {.height = 1, .width = 2, .channels = 1, .pixels = {0, 255}}}},
                         9);
  tensorboard.finish();

  tests::Program python(
      {ACCELERATE_ORACLE_PYTHON, ACCELERATE_SOURCE_DIR "/tests/tracking/compare_events.py", directory.path().string()},
      {{"OMP_NUM_THREADS", "1"}});
  int code = python.wait(tests::hang_limit(std::chrono::minutes(4)));
  INFO(python.output(), python.errors());
  CHECK(code == 0);
}
