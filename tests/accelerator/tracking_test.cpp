#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include <torch/types.h>

#include "accelerate/accelerator.h"
#include "accelerate/base/error.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using nlohmann::json;

namespace {

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

/// Notes on which rank it was told what, in a file of that rank.
struct EveryRank : Tracker {
  explicit EveryRank(std::filesystem::path path) : path(std::move(path)) {}
  std::string name() const override { return "every_rank"; }
  bool main_process_only() const override { return false; }
  void store_init_configuration(const tracking::Values& config) override { note(tracking::to_json(config)); }
  void log(const tracking::Values& values, std::optional<int64_t> step) override { note(tracking::to_json(values)); }
  void note(const std::string& text) { std::ofstream(path, std::ios::app) << text << "\n"; }

  std::filesystem::path path;
};

}  // namespace

TEST_CASE("the main process keeps what all ranks log, and tensors count as numbers") {
  tests::TemporaryDirectory directory;
  tests::run_ranks(2, [&](comm::Group& group) {
    auto own = std::make_shared<EveryRank>(directory.path() / ("rank_" + std::to_string(group.rank())));
    Accelerator accelerator({.log_with = {"jsonl", own}, .project_dir = directory.path()});
    accelerator.init_trackers("bert", {{"lr", 3e-5}});
    auto loss = torch::tensor(0.5) + accelerator.process_index();
    accelerator.log({{"loss", loss}, {"count", torch::tensor(3)}, {"parts", {{"first", loss}, {"second", 1.5}}}}, 7);
    metrics::Scores scores;
    scores.add("accuracy", 0.75);
    accelerator.log(scores, 7);
    accelerator.get_tracker("jsonl").log({{"note", "from all"}}, 8);
    CHECK_THROWS_WITH_AS(accelerator.get_tracker("csv"), doctest::Contains("it has jsonl, every_rank"), Error);
    accelerator.end_training();
  });
  auto lines = lines_of(directory.read("bert/metrics.jsonl"));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0]["step"] == 7);
  CHECK(lines[0]["loss"] == 0.5);
  CHECK(lines[0]["count"] == 3);
  CHECK(lines[0]["count"].is_number_integer());
  CHECK(lines[0]["parts"] == json{{"first", 0.5}, {"second", 1.5}});
  CHECK(lines[1]["accuracy"] == 0.75);
  CHECK(lines[1]["step"] == 7);
  CHECK(lines[2]["note"] == "from all");
  CHECK(json::parse(directory.read("bert/config.json")) == json{{"lr", 3e-5}});
  CHECK(directory.read("rank_0") ==
        "{\"lr\": 3.0e-05}\n{\"loss\": 0.5, \"count\": 3, \"parts\": {\"first\": 0.5, \"second\": "
        "1.5}}\n{\"accuracy\": 0.75}\n");
  CHECK(lines_of(directory.read("rank_1")).at(1)["loss"] == 1.5);
}

TEST_CASE("mistakes about trackers are told at once") {
  Accelerator accelerator;
  CHECK_THROWS_WITH_AS(accelerator.init_trackers("bert"), doctest::Contains("there is no logging_dir"), Error);
  CHECK_THROWS_WITH_AS(accelerator.get_tracker("jsonl"), doctest::Contains("call init_trackers first"), Error);
  CHECK_THROWS_WITH_AS(accelerator.log({{"loss", torch::zeros({2, 3})}}),
                       doctest::Contains("a tensor of shape [2, 3] is not one number"), Error);
  CHECK_THROWS_WITH_AS(accelerator.log({{"loss", at::Tensor()}}), doctest::Contains("undefined"), Error);
  // Also where nobody wants the picture: on the other processes, which would wait for the one that fails.
  CHECK_THROWS_WITH_AS(accelerator.log_images({{"a", torch::zeros({2, 3})}}),
                       doctest::Contains("'a' is a tensor of shape [2, 3], which is not an image"), Error);
  CHECK_THROWS_WITH_AS(accelerator.log_images({{"a", torch::zeros({2, 4, 4})}}), doctest::Contains("has 2 channels"),
                       Error);
  CHECK_THROWS_WITH_AS(accelerator.log_images({{"a", at::Tensor()}}), doctest::Contains("undefined"), Error);
  CHECK_THROWS_WITH_AS(accelerator.log_histograms({{"a", at::Tensor()}}), doctest::Contains("undefined"), Error);
  Accelerator unknown({.log_with = {"tensorbord"}, .project_dir = "runs"});
  CHECK_THROWS_WITH_AS(unknown.init_trackers("bert"), doctest::Contains("Did you mean 'tensorboard'?"), Error);
}

TEST_CASE("what is logged before init_trackers costs one warning") {
  auto said = tests::captured_stderr([] {
    Accelerator accelerator;
    accelerator.log({{"loss", 1}});
    accelerator.log({{"loss", 2}});
  });
  auto first = said.find("log: the values are dropped; call init_trackers first");
  CHECK(first != std::string::npos);
  CHECK(said.find("log: the values are dropped", first + 1) == std::string::npos);
}

TEST_CASE("a directory that cannot be written costs a warning, not the training") {
  tests::TemporaryDirectory directory;
  auto file = directory.write("runs", "a file, not a directory");
  auto said = tests::captured_stderr([&] {
    Accelerator accelerator({.project_dir = file});
    accelerator.init_trackers("bert", {{"lr", 0.1}});
    for (int step = 0; step < 100; ++step) accelerator.log({{"loss", 1}}, step);
  });
  CHECK(said.find("the tracker 'jsonl' failed") != std::string::npos);
}

TEST_CASE("a batch of images becomes one picture with rows of eight") {
  auto images = torch::arange(9 * 2 * 3, torch::kByte).reshape({9, 1, 2, 3});
  auto image = image_of(images);
  CHECK(image.height == 4);
  CHECK(image.width == 24);
  CHECK(image.channels == 1);
  auto at = [&](int64_t row, int64_t column) { return image.pixels[row * 24 + column]; };
  CHECK(at(0, 0) == 0);
  CHECK(at(1, 3) == 9);   // the second image's second row
  CHECK(at(2, 0) == 48);  // the ninth image begins the second row of images
  CHECK(at(2, 3) == 0);
  auto colours = image_of(torch::tensor({0.0, 0.5, 2.0}).reshape({3, 1, 1}));
  CHECK(colours.channels == 3);
  CHECK(colours.pixels == std::vector<uint8_t>{0, 127, 255});
}
