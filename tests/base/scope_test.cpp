#include "accelerate/base/scope.h"

#include <doctest/doctest.h>

#include "accelerate/base/error.h"

TEST_CASE("a scope's action runs once on leaving, also by an exception, and not after release") {
  int calls = 0;
  {
    accelerate::ScopeExit exit([&] { ++calls; });
    CHECK(calls == 0);
  }
  CHECK(calls == 1);
  auto leave_early = [&] {
    accelerate::ScopeExit exit([&] { ++calls; });
    accelerate::fail("out");
  };
  CHECK_THROWS_AS(leave_early(), accelerate::Error);
  CHECK(calls == 2);
  {
    accelerate::ScopeExit exit([&] { ++calls; });
    exit.release();
  }
  CHECK(calls == 2);
}
