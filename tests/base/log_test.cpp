#include "accelerate/base/log.h"

#include <doctest/doctest.h>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"
#include "tests/support/captured_stderr.h"

using namespace accelerate;
using accelerate::tests::captured_stderr;

namespace {

/// Speaks as `rank` of `world_size` until destroyed.
struct Speaker {
  Speaker(int rank, int world_size, std::function<void()> barrier = {}) {
    set_log_context({.rank = rank, .local_rank = rank, .world_size = world_size, .barrier = std::move(barrier)});
  }
  ~Speaker() { set_log_context({}); }
};

}  // namespace

TEST_CASE("a logger works before the program has joined a job, without a rank in its lines") {
  auto text = captured_stderr([] { get_logger("trainer", LogLevel::Info).info("ready"); });
  CHECK(text == "INFO:trainer:ready\n");
}

TEST_CASE("by default only the main process speaks, and says its rank where there are several") {
  auto logger = get_logger("trainer", LogLevel::Info);
  {
    Speaker speaker(0, 4);
    CHECK(captured_stderr([&] { logger.error("lost"); }) == "ERROR:trainer:[RANK 0] lost\n");
  }
  Speaker speaker(2, 4);
  CHECK(captured_stderr([&] { logger.error("lost"); }) == "");
  CHECK(captured_stderr([&] { logger.error("lost", {.main_process_only = false}); }) ==
        "ERROR:trainer:[RANK 2] lost\n");
}

TEST_CASE("messages in order wait for their turn, and every rank takes part in every turn") {
  auto logger = get_logger("trainer", LogLevel::Info);
  std::string seen;
  int turns = 0;
  auto text = captured_stderr([&] {
    Speaker speaker(1, 3, [&] { seen += std::to_string(turns++); });
    logger.info("here", {.main_process_only = false, .in_order = true});
  });
  CHECK(text == "INFO:trainer:[RANK 1] here\n");
  CHECK(seen == "012");
}

TEST_CASE("messages below the level are not written") {
  auto logger = get_logger("trainer", LogLevel::Warning);
  CHECK(captured_stderr([&] {
          logger.debug("a");
          logger.info("b");
          logger.warning("c");
          logger.critical("d");
        }) == "WARNING:trainer:c\nCRITICAL:trainer:d\n");
  logger.set_level(LogLevel::Debug);
  CHECK(captured_stderr([&] { logger.debug("a"); }) == "DEBUG:trainer:a\n");
}

TEST_CASE("the level comes from ACCELERATE_LOG_LEVEL unless it is given, and is Warning otherwise") {
  PatchEnvironment patch{{"ACCELERATE_LOG_LEVEL", std::nullopt}};
  CHECK(get_logger("x").level() == LogLevel::Warning);
  setenv("ACCELERATE_LOG_LEVEL", "info", 1);
  CHECK(get_logger("x").level() == LogLevel::Info);
  CHECK(get_logger("x", LogLevel::Error).level() == LogLevel::Error);
  check_log_level_variable();
  setenv("ACCELERATE_LOG_LEVEL", "loud", 1);
  CHECK(get_logger("x").level() == LogLevel::Warning);
  CHECK_THROWS_WITH_AS(check_log_level_variable(), doctest::Contains("ACCELERATE_LOG_LEVEL is 'loud'"), Error);
}

TEST_CASE("a warning given once is not repeated, but another one is given") {
  auto logger = get_logger("once", LogLevel::Warning);
  auto text = captured_stderr([&] {
    for (int i = 0; i < 3; ++i) logger.warning_once("slow");
    logger.warning_once("very slow");
  });
  CHECK(text == "WARNING:once:slow\nWARNING:once:very slow\n");
}
