#include "accelerate/parallel/same_model.h"
#include "tests/support/torch.h"

#include <doctest/doctest.h>

using namespace accelerate::parallel;

TEST_CASE("equal descriptions have no difference") {
  CHECK_FALSE(first_difference({{}, {}}).has_value());
  CHECK_FALSE(first_difference({{"a", "b"}, {"a", "b"}, {"a", "b"}}).has_value());
}

TEST_CASE("the first difference lists the ranks of each value") {
  CHECK(*first_difference({{"a", "b"}, {"a", "c"}, {"a", "b"}}) == "\n  - ranks 0, 2: b\n  - rank 1: c");
  CHECK(*first_difference({{"a"}, {"a", "b"}}) == "\n  - rank 1: b\n  - rank 0: nothing");
  CHECK(*first_difference({{"x", "b"}, {"a", "c"}}) == "\n  - rank 1: a\n  - rank 0: x");
}

TEST_CASE("a description has everything that changes the bytes sent") {
  auto weight = torch::zeros({2, 3}).requires_grad_();
  auto lines =
      describe_model({{"w", weight}, {"v", torch::zeros({2, 3}, torch::kDouble).t()}}, {{"n", torch::zeros({})}});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "parameter 'w' Float [2, 3]");
  CHECK(lines[1] == "parameter 'v' Double [3, 2] strides [1, 3] frozen");
  CHECK(lines[2] == "buffer 'n' Float []");
}

TEST_CASE("distinct tensors keep their order and first name") {
  auto a = torch::zeros({1}), b = torch::zeros({1});
  auto tensors = distinct({{"a", a}, {"nothing", at::Tensor()}, {"b", b}, {"again", a}});
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].name == "a");
  CHECK(tensors[1].name == "b");
}
