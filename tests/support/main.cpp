// The entry of every test binary, and the count of failed checks that lets a rank report its own (rank_test.h).

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <atomic>

#include "tests/support/failed_checks.h"

namespace accelerate::tests {

namespace {

std::atomic<int> failed_check_count = 0;

/// Listens to what doctest reports.
struct FailedChecks : doctest::IReporter {
  explicit FailedChecks(const doctest::ContextOptions&) {}

  void log_assert(const doctest::AssertData& check) override {
    if (check.m_failed && !(check.m_at & doctest::assertType::is_warn)) ++failed_check_count;
  }
  void log_message(const doctest::MessageData& message) override {
    if (!(message.m_severity & doctest::assertType::is_warn)) ++failed_check_count;
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

}  // namespace

REGISTER_LISTENER("failed checks", 1, FailedChecks);

int failed_checks() { return failed_check_count; }

}  // namespace accelerate::tests
