#include "accelerate/sharding/gradient_shards.h"

#include <doctest/doctest.h>

#include "accelerate/base/environment.h"
#include "accelerate/comm/reduction_watch.h"
#include "tests/parallel/small_models.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate::tests;
using accelerate::comm::Group;
using accelerate::comm::ReductionWatch;
using accelerate::sharding::keep_gradient_shards;
using accelerate::sharding::pages_between;
using accelerate::shared_memory::Range;

TEST_CASE("whole pages are given back where nothing of them is kept") {
  using Ranges = std::vector<Range>;
  CHECK((pages_between({}, 0, 10) == Ranges{}));
  CHECK((pages_between({}, 9, 10) == Ranges{}));
  CHECK((pages_between({}, 35, 10) == Ranges{{0, 30}}));
  CHECK((pages_between({{0, 35}}, 35, 10) == Ranges{}));
  CHECK((pages_between({{0, 1}}, 35, 10) == Ranges{{10, 20}}));
  CHECK((pages_between({{10, 10}}, 40, 10) == Ranges{{0, 10}, {20, 20}}));
  CHECK((pages_between({{9, 12}}, 40, 10) == Ranges{{30, 10}}));
  // Between two that are kept, and none where they meet.
  CHECK((pages_between({{5, 10}, {15, 10}, {45, 5}}, 80, 10) == Ranges{{30, 10}, {50, 30}}));
}

TEST_CASE("gradients live in memory that ranks share, and are not kept by shares where they do not") {
  for (bool in_private_memory : {false, true}) {
    run_ranks(2, [&](Group& group) {
      accelerate::PatchEnvironment memory{{"DDP_DISABLE_COMM_MEM", in_private_memory ? "1" : "0"}};
      Chain model({30, 200, 200, 30});
      auto replicas = replicate(model, group);
      const auto keep_first = [&] {
        keep_gradient_shards(*replicas, [](const at::Tensor&) { return accelerate::Slice{.length = 1}; });
      };
      if (in_private_memory) {
        CHECK_THROWS_WITH_AS(keep_first(), doctest::Contains("no DDP_DISABLE_COMM_MEM"), accelerate::Error);
      }
      synced_backward(model.forward(torch::randn({3, 30})).pow(2).mean(), {replicas});
      for (const auto& parameter : model.parameters()) {
        CHECK(ReductionWatch::lies_in_shared_memory(group, parameter.grad()) == !in_private_memory);
      }
      zero_grad(model);
      if (!in_private_memory) keep_first();
    });
  }
}
