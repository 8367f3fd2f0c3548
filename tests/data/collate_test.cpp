#include "accelerate/data/collate.h"
#include "tests/support/torch.h"

#include <doctest/doctest.h>

#include <torch/data/example.h>

namespace {

struct Sentence {
  torch::Tensor tokens;
  torch::Tensor label;
};
auto tensor_fields(Sentence& sentence) { return std::tie(sentence.tokens, sentence.label); }

struct WithoutRule {};

using namespace accelerate;
using data::default_collate;
using torch::tensor;

torch::Tensor range(int64_t begin, int64_t end) { return torch::arange(begin, end); }

}  // namespace

TEST_CASE("tensors are stacked, and shapes that differ are named") {
  CHECK(default_collate(std::vector{range(0, 3), range(3, 6)}).equal(torch::arange(6).view({2, 3})));
  CHECK_THROWS_WITH_AS(default_collate(std::vector{range(0, 3), range(0, 2)}),
                       doctest::Contains("shape [3] and another [2]"), Error);
}

TEST_CASE("numbers become a tensor: whole ones of int64, the others of their own precision") {
  CHECK(default_collate(std::vector<int>{1, 2}).equal(tensor({1, 2}, torch::kLong)));
  CHECK(default_collate(std::vector<int64_t>{1, 2}).dtype() == torch::kLong);
  CHECK(default_collate(std::vector<double>{1.5, 2}).equal(tensor({1.5, 2.0}, torch::kDouble)));
  CHECK(default_collate(std::vector<float>{1.5f, 2}).equal(tensor({1.5f, 2.0f}, torch::kFloat)));
  CHECK(default_collate(std::vector<bool>{true, false}).equal(tensor({true, false})));
}

TEST_CASE("what is made of parts is collated part by part") {
  using Pair = std::pair<torch::Tensor, int>;
  auto [pixels, labels] = default_collate(std::vector<Pair>{{range(0, 2), 7}, {range(2, 4), 8}});
  CHECK(pixels.equal(torch::arange(4).view({2, 2})));
  CHECK(labels.equal(tensor({7, 8}, torch::kLong)));

  using Triple = std::tuple<std::string, double, bool>;
  auto [names, weights, flags] = default_collate(std::vector<Triple>{{"a", 0.5, true}, {"b", 1.5, false}});
  CHECK(names == std::vector<std::string>{"a", "b"});
  CHECK(weights.equal(tensor({0.5, 1.5}, torch::kDouble)));
  CHECK(flags.equal(tensor({true, false})));

  auto columns = default_collate(std::vector<std::array<int, 2>>{{1, 2}, {3, 4}, {5, 6}});
  CHECK(columns[1].equal(tensor({2, 4, 6}, torch::kLong)));

  auto lists = default_collate(std::vector<std::vector<int>>{{1, 2}, {3, 4}});
  REQUIRE(lists.size() == 2);
  CHECK(lists[0].equal(tensor({1, 3}, torch::kLong)));
  CHECK_THROWS_WITH_AS(default_collate(std::vector<std::vector<int>>{{1, 2}, {3}}), doctest::Contains("2 elements"),
                       Error);
}

TEST_CASE("maps, batches, examples and structs keep their names") {
  std::map<std::string, int> one = {{"x", 1}, {"y", 2}};
  auto maps = default_collate(std::vector{one, one});
  CHECK(maps.at("y").equal(tensor({2, 2}, torch::kLong)));
  CHECK_THROWS_WITH_AS(default_collate(std::vector<std::map<std::string, int>>{one, {{"x", 1}}}),
                       doctest::Contains("lacks the key y"), Error);

  auto batch = default_collate(std::vector{Batch{{"ids", range(0, 2)}}, Batch{{"ids", range(2, 4)}}});
  CHECK(batch.at("ids").equal(torch::arange(4).view({2, 2})));

  using Example = torch::data::Example<torch::Tensor, int64_t>;
  auto example = default_collate(std::vector<Example>{{range(0, 2), 5}, {range(0, 2), 6}});
  CHECK(example.target.equal(tensor({5, 6}, torch::kLong)));
  torch::data::TensorExample without_target(range(0, 2));
  CHECK(default_collate(std::vector{without_target, without_target}).data.sizes() == at::IntArrayRef({2, 2}));

  auto sentences = default_collate(std::vector<Sentence>{{range(0, 2), tensor(0)}, {range(2, 4), tensor(1)}});
  CHECK(sentences.tokens.equal(torch::arange(4).view({2, 2})));
  CHECK(sentences.label.equal(tensor({0, 1})));
}

TEST_CASE("a type without a natural batch has no default collation") {
  CHECK(!data::Collatable<WithoutRule>);
  CHECK(!data::Collatable<std::pair<int, WithoutRule>>);
  CHECK(data::Collatable<std::pair<int, std::string>>);
}
