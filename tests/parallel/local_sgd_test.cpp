#include "accelerate/parallel/local_sgd.h"

#include <doctest/doctest.h>

#include "tests/parallel/small_models.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace comm = accelerate::comm;
namespace parallel = accelerate::parallel;
using namespace accelerate::tests;
using comm::Group;
using parallel::PeriodicAveraging;

TEST_CASE("parameters are averaged after every round and at the end of the scope") {
  run_ranks(2, [](Group& group) {
    Weight model(1);
    auto train = [&] {
      model.forward(group.rank() + 1).backward();
      descend(model, 1);
      zero_grad(model);
    };
    {
      PeriodicAveraging averaging({model.w}, group, 2);
      std::vector<double> expected =
          group.rank() == 0 ? std::vector<double>{0, -2, -3} : std::vector<double>{-1, -2, -4};
      for (double value : expected) {
        train();
        averaging.step();
        CHECK(model.w.item<double>() == value);
      }
      averaging.finish();
    }
    CHECK(model.w.item<double>() == -3.5);
    {
      PeriodicAveraging disabled({model.w}, group, 1, /*enabled=*/false);
      train();
      disabled.step();
    }
    CHECK(model.w.item<double>() == -3.5 - (group.rank() + 1));
  });
}

TEST_CASE("the average is that of each parameter, of any type, tied or not; frozen ones stay") {
  run_ranks(3, [](Group& group) {
    double mine = group.rank();
    auto single = torch::full({3, 2}, mine).t().requires_grad_();
    auto half = torch::full({5}, 2 * mine, torch::kBFloat16).requires_grad_();
    auto wide = torch::full({2}, 4 * mine, torch::kDouble).requires_grad_();
    auto frozen = torch::full({2}, mine);
    parallel::average_parameters({single, half, wide, single, frozen}, group);
    CHECK(single.equal(torch::ones({2, 3})));
    CHECK(half.equal(torch::full({5}, 2, torch::kBFloat16)));
    CHECK(wide.equal(torch::full({2}, 4, torch::kDouble)));
    CHECK(frozen.equal(torch::full({2}, mine)));
  });
}

TEST_CASE("local SGD that ends without finish() leaves the parameters, and says so once") {
  run_ranks(2, [](Group& group) {
    Weight model(group.rank());
    auto step_and_leave = [&] { PeriodicAveraging({model.w}, group, 2).step(); };
    const auto said = captured_stderr(step_and_leave);
    CHECK_MESSAGE((said.find("call finish() after the loop") != std::string::npos) == (group.rank() == 0), said);
    CHECK(captured_stderr(step_and_leave).empty());
    CHECK(model.w.item<double>() == group.rank());
  });
}

TEST_CASE("a round has at least one step") {
  CHECK(failure_of([] { PeriodicAveraging({}, Group(), 0); }) == doctest::Contains("local_sgd_steps is 0"));
}
