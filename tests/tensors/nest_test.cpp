#include <doctest/doctest.h>
#include <torch/data/example.h>

#include <map>

#include "accelerate/tensors/archive.h"
#include "accelerate/tensors/nest.h"
#include "tests/support/torch.h"

using namespace accelerate;

namespace {

struct Pictures {
  at::Tensor pixels;
  std::vector<at::Tensor> labels;
  std::string source;
};
auto tensor_fields(Pictures& pictures) { return std::tie(pictures.pixels, pictures.labels, pictures.source); }

at::Tensor twice(const at::Tensor& tensor) { return tensor * 2; }

}  // namespace

TEST_CASE("map_tensors reaches every tensor of every kind of nest and keeps the rest") {
  auto one = torch::ones({2});
  CHECK(map_tensors(one, twice).sum().item<float>() == 4);

  auto tuple = map_tensors(std::tuple(one, 7, std::string("name")), twice);
  CHECK(std::get<0>(tuple)[0].item<float>() == 2);
  CHECK(std::get<1>(tuple) == 7);
  CHECK(std::get<2>(tuple) == "name");

  auto pair = map_tensors(std::pair(one, std::array<at::Tensor, 2>{one, one}), twice);
  CHECK(pair.second[1][1].item<float>() == 2);

  auto map = map_tensors(std::map<std::string, std::vector<at::Tensor>>{{"a", {one, one}}}, twice);
  CHECK(map["a"][1][0].item<float>() == 2);

  auto example = map_tensors(torch::data::Example<>(one, one), twice);
  CHECK(example.target[0].item<float>() == 2);
  CHECK(map_tensors(torch::data::TensorExample(one), twice).data[0].item<float>() == 2);

  auto batch = map_tensors(Batch{{"x", one}, {"y", one}}, twice);
  CHECK(batch.at("y")[0].item<float>() == 2);
  CHECK(batch.names() == std::vector<std::string>{"x", "y"});

  auto own = map_tensors(Pictures{one, {one}, "camera"}, twice);
  CHECK(own.labels[0][0].item<float>() == 2);
  CHECK(own.source == "camera");

  CHECK(map_tensors(std::optional<at::Tensor>(one), twice)->sum().item<float>() == 4);
  CHECK_FALSE(map_tensors(std::optional<at::Tensor>(), twice));
  CHECK(one.sum().item<float>() == 2);
}

TEST_CASE("undefined tensors are left alone") {
  auto pair = map_tensors(std::pair(at::Tensor(), torch::ones({1})), twice);
  CHECK_FALSE(pair.first.defined());
  CHECK(pair.second.item<float>() == 2);
}

TEST_CASE("whether a type holds tensors is known to the compiler") {
  CHECK(tensors::holds_tensors<std::vector<std::pair<int, at::Tensor>>>);
  CHECK(tensors::holds_tensors<Pictures>);
  CHECK_FALSE(tensors::holds_tensors<std::vector<std::string>>);
  CHECK_FALSE(tensors::holds_tensors<std::map<std::string, double>>);
}

TEST_CASE("nests are cut and joined row by row") {
  Batch batch{{"x", torch::arange(6).reshape({3, 2})}, {"y", torch::arange(3)}};
  CHECK(find_batch_size(batch) == 3);
  CHECK_FALSE(find_batch_size(std::vector<at::Tensor>()));
  auto joined = concatenate(std::vector{slice_tensors(batch, 0, 1), slice_tensors(batch, 1, 3)});
  CHECK(torch::equal(joined.at("x"), batch.at("x")));
  CHECK(torch::equal(joined.at("y"), batch.at("y")));
}

TEST_CASE("convert_to_fp32 turns half precision into float and nothing else") {
  auto nest = convert_to_fp32(std::tuple(torch::ones({1}, torch::kHalf), torch::ones({1}, torch::kBFloat16),
                                         torch::ones({1}, torch::kDouble), torch::ones({1}, torch::kLong)));
  CHECK((std::get<0>(nest).scalar_type() == torch::kFloat));
  CHECK((std::get<1>(nest).scalar_type() == torch::kFloat));
  CHECK((std::get<2>(nest).scalar_type() == torch::kDouble));
  CHECK((std::get<3>(nest).scalar_type() == torch::kLong));
}

TEST_CASE("a batch finds its tensors by name and says which names there are") {
  Batch batch{{"input_ids", torch::ones({1})}};
  CHECK(batch.contains("input_ids"));
  CHECK_FALSE(batch.get("labels").defined());
  CHECK_THROWS_WITH_AS(batch.at("labels"), "the batch has no 'labels'; it has: input_ids", Error);
  batch["labels"] = torch::zeros({1});
  batch.erase("input_ids");
  CHECK(batch.names() == std::vector<std::string>{"labels"});
}

TEST_CASE("what is packed unpacks to the same") {
  using Object =
      std::tuple<int, double, std::string, std::vector<std::string>, std::map<std::string, int64_t>, Batch, bool>;
  Object object{-3, 0.5, "text", {"a", ""}, {{"k", 9}}, Batch{{"x", torch::arange(4).to(torch::kBFloat16)}}, true};
  auto back = tensors::unpack<Object>(tensors::pack(object));
  CHECK(std::get<0>(back) == -3);
  CHECK(std::get<1>(back) == 0.5);
  CHECK(std::get<2>(back) == "text");
  CHECK(std::get<3>(back) == std::vector<std::string>{"a", ""});
  CHECK(std::get<4>(back).at("k") == 9);
  CHECK(torch::equal(std::get<5>(back).at("x"), std::get<5>(object).at("x")));
  CHECK(std::get<6>(back));

  auto pictures = tensors::unpack<Pictures>(tensors::pack(Pictures{torch::ones({2, 2}).t(), {at::Tensor()}, "s"}));
  CHECK(torch::equal(pictures.pixels, torch::ones({2, 2})));
  CHECK_FALSE(pictures.labels[0].defined());
  CHECK(pictures.source == "s");
}

TEST_CASE("bytes that end early are an error and not a read beyond them") {
  auto bytes = tensors::pack(std::string("a long text"));
  CHECK_THROWS_AS(tensors::unpack<std::string>(bytes.substr(0, bytes.size() - 1)), Error);
}
