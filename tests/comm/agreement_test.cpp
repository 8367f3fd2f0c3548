// What all ranks throw if some of them fail.

#include "accelerate/comm/agreement.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "accelerate/base/error.h"

namespace {

using accelerate::Error;
using accelerate::comm::collectively;
using accelerate::comm::Exchange;

/// An exchange in which the other ranks bring these messages: '+' and a result, or '-' and an error.
Exchange with_others(std::vector<std::string> others) {
  return [others](const std::string& mine) {
    std::vector<std::string> all{mine};
    all.insert(all.end(), others.begin(), others.end());
    return all;
  };
}

}  // namespace

TEST_CASE("work that succeeds on all ranks returns all results in rank order") {
  CHECK(collectively(with_others({"+b", "+"}), [] { return std::string("a"); }) ==
        std::vector<std::string>{"a", "b", ""});
  int calls = 0;
  collectively(with_others({"+", "+"}), [&] { ++calls; });
  CHECK(calls == 1);
}

TEST_CASE("equal errors of several ranks are reported once, and an error that is part of another one is kept") {
  CHECK_THROWS_WITH_AS(collectively(with_others({"-the disk is full", "-disk", "-the disk is full", "+"}),
                                    [] { throw std::runtime_error("the disk is full"); }),
                       "rank 0: the disk is full\nrank 2: disk", Error);
}

TEST_CASE("an error on another rank is thrown by a rank without one") {
  CHECK_THROWS_WITH_AS(collectively(with_others({"-lost"}), [] {}), "rank 1: lost", Error);
}
