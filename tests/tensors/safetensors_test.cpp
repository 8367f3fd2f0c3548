#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <utility>
#include <variant>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/tensors/files/weight_files.h"
#include "accelerate/tensors/safetensors.h"
#include "accelerate/tensors/save_shards.h"
#include "accelerate/tensors/stored_tensor.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch.h"

using namespace accelerate;

namespace {

std::string scratch(const std::string& name) { return std::string(ACCELERATE_BINARY_DIR) + "/" + name; }

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("tensors of all types come back from a safetensors file") {
  tensors::TensorList list{{"b.weight", torch::randn({3, 4})},
                           {"a.bias", torch::randn({4}).to(torch::kBFloat16)},
                           {"steps", torch::tensor(7)},
                           {"mask", torch::tensor({true, false})},
                           {"transposed", torch::arange(6).reshape({2, 3}).t()},
                           {"empty", torch::empty({0, 5})}};
  for (auto type : {torch::kUInt16, torch::kUInt32, torch::kUInt64, torch::kComplexFloat, torch::kFloat8_e4m3fn,
                    torch::kFloat8_e5m2, torch::kFloat8_e8m0fnu, torch::kFloat8_e4m3fnuz, torch::kFloat8_e5m2fnuz}) {
    list.emplace_back(c10::toString(type), torch::tensor({1, 2, 4}).to(type));
  }
  auto path = scratch("round_trip.safetensors");
  tensors::save_safetensors(list, path);
  auto loaded = tensors::load_safetensors(path);
  REQUIRE(loaded.size() == list.size());
  for (const auto& [name, tensor] : list) {
    auto found =
        std::find_if(loaded.begin(), loaded.end(), [&, key = name](const auto& item) { return item.first == key; });
    REQUIRE(found != loaded.end());
    CHECK((found->second.scalar_type() == tensor.scalar_type()));
    auto bytes_in = [](const torch::Tensor& values) { return values.reshape({-1}).view(torch::kByte); };
    CHECK(torch::equal(bytes_in(found->second), bytes_in(tensor)));
  }
}

TEST_CASE("a safetensors file has the bytes of the reference writer") {
  auto ours = scratch("ours.safetensors");
  auto theirs = scratch("theirs.safetensors");
  tensors::save_safetensors({{"w", torch::arange(6).to(torch::kFloat).reshape({2, 3})},
                             {"ids", torch::arange(3)},
                             {"half", torch::ones({5}, torch::kHalf)},
                             {"flag", torch::ones({3}, torch::kBool)},
                             {"bf", torch::ones({2}, torch::kBFloat16)},
                             {"d", torch::ones({1}, torch::kDouble)},
                             {"u8", torch::ones({1}, torch::kByte)},
                             {"i8", torch::ones({1}, torch::kChar)},
                             {"i16", torch::ones({1}, torch::kShort)},
                             {"i32", torch::ones({1}, torch::kInt)},
                             {"e8m0", torch::ones({1}).to(torch::kFloat8_e8m0fnu)},
                             {"e4m3", torch::ones({1}).to(torch::kFloat8_e4m3fn)},
                             {"e4m3fnuz", torch::ones({1}).to(torch::kFloat8_e4m3fnuz)},
                             {"e5m2", torch::ones({1}).to(torch::kFloat8_e5m2)},
                             {"e5m2fnuz", torch::ones({1}).to(torch::kFloat8_e5m2fnuz)},
                             {"u16", torch::ones({1}).to(torch::kUInt16)},
                             {"u64", torch::ones({1}).to(torch::kUInt64)},
                             {"c64", torch::ones({1}, torch::kComplexFloat)},
                             {"\xc3\xa9 name", torch::zeros({1})}},
                            ours);
  std::ofstream(scratch("write_safetensors.py"))
      << "import torch, safetensors.torch as s\n"
         "one = lambda n, t: torch.ones(n, dtype=t)\n"
         "s.save_file({'w': torch.arange(6).float().reshape(2, 3), 'ids': torch.arange(3), 'half': one(5, torch.half),"
         " 'flag': one(3, torch.bool), 'bf': one(2, torch.bfloat16), 'd': one(1, torch.double), 'u8': one(1, "
         "torch.uint8),"
         " 'i8': one(1, torch.int8), 'i16': one(1, torch.int16), 'i32': one(1, torch.int32),"
         " 'e8m0': torch.ones(1).to(torch.float8_e8m0fnu), 'e4m3': torch.ones(1).to(torch.float8_e4m3fn),"
         " 'e4m3fnuz': torch.ones(1).to(torch.float8_e4m3fnuz), 'e5m2': torch.ones(1).to(torch.float8_e5m2),"
         " 'e5m2fnuz': torch.ones(1).to(torch.float8_e5m2fnuz), 'u16': one(1, torch.uint16),"
         " 'u64': one(1, torch.uint64), 'c64': one(1, torch.complex64),"
         " '\xc3\xa9 name': torch.zeros(1)}, '"
      << theirs << "', metadata={'format': 'pt'})\n";
  auto command = std::string(ACCELERATE_SOURCE_DIR) + "/.venv/bin/python " + scratch("write_safetensors.py");
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(bytes_of(ours) == bytes_of(theirs));
}

TEST_CASE("a file that is not whole is refused with its name") {
  auto path = scratch("cut.safetensors");
  tensors::save_safetensors({{"w", torch::ones({100})}}, path);
  auto bytes = bytes_of(path);
  for (size_t size : {size_t{0}, size_t{4}, size_t{9}, bytes.size() - 1}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes.substr(0, size);
    CHECK_THROWS_WITH_AS(tensors::load_safetensors(path), doctest::Contains("cut.safetensors"), Error);
  }
  CHECK_THROWS_WITH_AS(tensors::load_safetensors(scratch("absent.safetensors")),
                       doctest::Contains("absent.safetensors"), Error);
  CHECK_THROWS_WITH_AS(tensors::save_safetensors({}, "/nowhere/x.safetensors"), doctest::Contains("/nowhere"), Error);
}

TEST_CASE("a tensor goes into one of another type, and a bool is 0 or 1") {
  auto path = scratch("types.safetensors");
  tensors::save_safetensors({{"flags", torch::tensor({true, false})}, {"w", torch::arange(6).to(torch::kHalf)}}, path);
  auto destination = torch::empty({6}, torch::kDouble);
  tensors::open_safetensors(path)[0].second.copy_into(destination);
  CHECK(torch::equal(destination, torch::arange(6, torch::kDouble)));
  auto bytes = bytes_of(path);
  bytes.back() = 7;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  CHECK_THROWS_WITH_AS(tensors::load_safetensors(path), doctest::Contains("'flags' is a bool tensor"), Error);
}

TEST_CASE("what several threads read together goes to its places, of any layout and type") {
  auto path = scratch("many.safetensors");
  tensors::TensorList tensors;
  for (int64_t i = 0; i < 14; ++i) tensors.emplace_back(std::to_string(i), torch::randn({1 + i, (1 << 17) + 3 * i}));
  tensors::save_safetensors(tensors, path);
  REQUIRE(std::filesystem::file_size(path) > (32 << 20));  // less would be left to one thread

  std::vector<std::pair<at::Tensor, tensors::StoredTensor>> destinations;
  for (const auto& [name, stored] : tensors::open_safetensors(path)) {
    auto place = torch::empty(stored.shape);
    if (name == "3") place = torch::empty({stored.shape[1], stored.shape[0]}).t();
    if (name == "5") place = place.to(torch::kDouble);
    if (name == "7") place = torch::empty({2 * stored.shape[0], stored.shape[1]}).slice(0, 0, -1, 2);
    destinations.emplace_back(place, stored);
  }
  tensors::copy_all(destinations);
  for (const auto& [place, stored] : destinations) {
    auto index = std::stoull(std::get<tensors::TensorLocation>(stored.source).name);
    CAPTURE(index);
    CHECK(torch::equal(place.to(torch::kFloat), tensors[index].second));
  }

  std::filesystem::resize_file(path, 30 << 20);
  CHECK_THROWS_WITH_AS(tensors::copy_all(destinations), doctest::Contains("many.safetensors: ends at byte"), Error);
}

TEST_CASE("a file that was cut short after it was opened is an error when a tensor is read") {
  auto path = scratch("cut.safetensors");
  tensors::save_safetensors({{"w", torch::ones({1 << 20})}}, path);
  auto stored = tensors::open_safetensors(path);
  std::filesystem::resize_file(path, 4096);
  auto destination = torch::empty({1 << 20});
  CHECK_THROWS_WITH_AS(stored[0].second.copy_into(destination), doctest::Contains("ends at byte 4096"), Error);
}

TEST_CASE("a model that cannot be saved whole leaves the one from before, and no mixture of the two") {
  auto model_of = [](float value) {
    return tensors::TensorList{{"a", torch::full({4}, value)}, {"b", torch::full({4}, value)}};
  };
  auto values_in = [](const std::filesystem::path& directory) {
    std::vector<float> values;
    for (const auto& [name, tensor] : tensors::open_weights(directory))
      values.push_back(tensor.read()[0].item<float>());
    return values;
  };
  for (uint64_t max_shard_bytes : {16, 1000}) {
    tests::TemporaryDirectory directory;
    tensors::save_shards(model_of(1), directory.path(), {.max_shard_bytes = max_shard_bytes});
    int num_files = 0;
    tensors::SaveShardsOptions failing{.max_shard_bytes = 16};
    failing.write = [&](const tensors::TensorList& part, const std::string&, const Append& append) {
      if (++num_files == 2) fail("the disk is full");
      tensors::write_safetensors(part, append);
    };
    CHECK_THROWS_AS(tensors::save_shards(model_of(2), directory.path(), failing), Error);
    CHECK(values_in(directory.path()) == std::vector<float>{1, 1});
    tensors::save_shards(model_of(2), directory.path(), {.max_shard_bytes = 16});
    CHECK(values_in(directory.path()) == std::vector<float>{2, 2});
    CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 3);
  }
}

TEST_CASE("a safetensors file is one also if the length of its header reads like the start of another format") {
  tests::TemporaryDirectory directory;
  const std::string tensor = R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  for (uint16_t length : {0x4b50, 0x0280}) {  // "PK" of zip archives, and the first bytes of a pickle
    const std::string bytes = {static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
    const auto header = tensor + std::string(length - tensor.size(), ' ');
    const auto path = directory.write("model.safetensors", bytes + std::string(6, '\0') + header + '\7');
    CHECK(tensors::open_weights(path).at(0).second.read().item<int>() == 7);
  }
}

TEST_CASE("a shard that lacks a tensor of its index is refused with both names") {
  tests::TemporaryDirectory directory;
  tensors::save_safetensors({{"a", torch::ones({1})}}, directory.path() / "model-1.safetensors");
  const auto index = directory.write("model.safetensors.index.json",
                                     R"({"weight_map": {"a": "model-1.safetensors", "b": "model-1.safetensors"}})");
  CHECK_THROWS_WITH_AS(tensors::open_weights(index),
                       doctest::Contains("model-1.safetensors: lacks tensors that the index lists for it: b"), Error);
}
