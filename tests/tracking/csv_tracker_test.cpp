#include "accelerate/tracking/file_trackers.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "accelerate/tracking/file_trackers.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::tracking;

namespace {

/// The table without its column of times.
std::vector<std::vector<std::string>> table(const tests::TemporaryDirectory& directory) {
  auto records = parse_csv(directory.read("metrics.csv"));
  for (auto& record : records) record.erase(record.begin() + 1);
  return records;
}

using Table = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("names that appear later become columns that are empty in the rows before") {
  tests::TemporaryDirectory directory;
  CsvTracker tracker(directory.path());
  tracker.start();
  tracker.log({{"loss", 0.5}}, 0);
  tracker.log({{"loss", 0.25}, {"eval", {{"accuracy", 0.9}}}}, 1);
  tracker.log({{"note", "a, \"b\"\nc"}}, std::nullopt);
  tracker.log({{"loss", NAN}}, 3);
  CHECK(table(directory) == Table{{"step", "loss", "eval/accuracy", "note"},
                                  {"0", "0.5", "", ""},
                                  {"1", "0.25", "0.9", ""},
                                  {"", "", "", "a, \"b\"\nc"},
                                  {"3", "nan", "", ""}});
}

TEST_CASE("a resumed run goes on with the columns that are there") {
  tests::TemporaryDirectory directory;
  {
    CsvTracker tracker(directory.path());
    tracker.start();
    tracker.log({{"b", 1}, {"a", 2}}, 0);
  }
  directory.write("metrics.csv", directory.read("metrics.csv") + "1,170");
  CsvTracker tracker(directory.path());
  tracker.start();
  tracker.log({{"a", 3}, {"c", 4}}, 1);
  CHECK(table(directory) == Table{{"step", "b", "a", "c"}, {"0", "1", "2", ""}, {"1", "", "3", "4"}});
}

TEST_CASE("a table that was removed during the run begins anew with the next new name") {
  tests::TemporaryDirectory directory;
  CsvTracker tracker(directory.path());
  tracker.start();
  tracker.log({{"loss", 0.5}}, 0);
  std::filesystem::remove(directory.path() / "metrics.csv");
  tracker.log({{"loss", 0.25}, {"accuracy", 0.9}}, 1);
  CHECK(table(directory) == Table{{"step", "loss", "accuracy"}, {"1", "0.25", "0.9"}});
}

TEST_CASE("values called step or time have columns of their own beside those of the tracker") {
  tests::TemporaryDirectory directory;
  CsvTracker tracker(directory.path());
  tracker.start();
  tracker.log({{"time", 3.5}, {"step", 7}}, 1);
  tracker.log({{"step", 8}}, std::nullopt);
  CHECK(table(directory) == Table{{"step", "metric/time", "metric/step"}, {"1", "3.5", "7"}, {"8", "", ""}});
}

TEST_CASE("Python's csv module reads the table") {
  tests::TemporaryDirectory directory;
  CsvTracker tracker(directory.path());
  tracker.start();
  tracker.store_init_configuration({{"lr", 1e-5}, {"model", {{"layers", 12}}}});
  for (int step = 0; step < 3; ++step) tracker.log({{"loss", 1.0 / (step + 1)}, {"text", "one, \"two\"\nthree"}}, step);
  tests::Program python({"python3", "-c", R"(
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/metrics.csv", newline="")))
assert [float(row["loss"]) for row in rows] == [1.0, 1 / 2, 1 / 3], rows
assert {row["text"] for row in rows} == {'one, "two"\nthree'}, rows
config = dict(list(csv.reader(open(sys.argv[1] + "/config.csv", newline="")))[1:])
assert config == {"lr": "1.0e-05", "model/layers": "12"}, config
)",
                         directory.path().string()});
  int code = python.wait();
  INFO(python.errors());
  CHECK(code == 0);
}
