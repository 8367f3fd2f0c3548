// Files of torch.save, read and written, against Python's torch.

#include <doctest/doctest.h>

#include <fstream>

#include "accelerate/base/error.h"
#include "accelerate/tensors/torch_file.h"
#include "tests/support/failure_of.h"
#include "tests/support/hang_limit.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch.h"

using namespace accelerate;
using tensors::load_torch_file;
using tensors::open_torch_file;
using tensors::save_torch_file;
using tensors::TorchValue;

namespace {

void run_python(const std::string& what, const tests::TemporaryDirectory& directory) {
  tests::Program python(
      {std::string(ACCELERATE_SOURCE_DIR) + "/.venv/bin/python",
       std::string(ACCELERATE_SOURCE_DIR) + "/tests/tensors/torch_files.py", what, directory.path().string()},
      {{"OMP_NUM_THREADS", "1"}});
  auto exit_code = python.wait(tests::hang_limit(std::chrono::minutes(3)));
  INFO(python.errors());
  REQUIRE(exit_code == 0);
}

/// A directory with the files that torch_files.py writes.
const tests::TemporaryDirectory& python_files() {
  static const tests::TemporaryDirectory directory;
  static const bool is_written = (run_python("write", directory), true);
  REQUIRE(is_written);
  return directory;
}

/// The values of torch_files.py.
void check_values(const TorchValue& value, const std::vector<std::string>& dtypes) {
  const auto& all = value.at("tensors").entries();
  REQUIRE(all.size() == dtypes.size());
  for (size_t i = 0; i < all.size(); ++i) {
    CAPTURE(dtypes[i]);
    CHECK(all[i].first.text() == dtypes[i]);
    auto tensor = all[i].second.tensor();
    CHECK((tensor.scalar_type() == c10::getStringToDtypeMap().at(dtypes[i])));
    auto wanted = torch::arange(6).to(tensor.scalar_type()).reshape({2, 3});
    CHECK(torch::equal(tensor.view(torch::kByte), wanted.view(torch::kByte)));
  }
  auto base = value.at("base").tensor();
  CHECK(torch::equal(base, torch::arange(12, torch::kFloat)));
  CHECK(torch::equal(value.at("transposed").tensor(), base.reshape({3, 4}).t()));
  CHECK(value.at("transposed").tensor().storage().is_alias_of(base.storage()));
  CHECK(value.at("slice").tensor().storage().is_alias_of(base.storage()));
  CHECK((value.at("slice").tensor().strides() == c10::IntArrayRef{2}));
  CHECK((value.at("expanded").tensor().strides() == c10::IntArrayRef{0}));
  CHECK((value.at("empty").tensor().sizes() == c10::IntArrayRef{0, 5}));
  CHECK(value.at("scalar").tensor().item<double>() == 1.5);
  CHECK(value.at("parameter").tensor().requires_grad());
  CHECK(value.at("plain").items()[5].items()[1].integer() == 2);
  CHECK(value.at("plain").items()[7].bytes() == std::string("\0\xff", 2));
  CHECK(value.at("by_number").at(0).at("step").tensor().item<double>() == 3);
}

const std::vector<std::string> kDtypes = {"float32", "float64", "float16", "bfloat16", "int64",     "int32",
                                          "int16",   "int8",    "uint8",   "bool",     "complex64", "complex128"};

std::vector<std::string> all_dtypes() {
  auto dtypes = kDtypes;
  for (const char* dtype : {"uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"}) dtypes.emplace_back(dtype);
  return dtypes;
}

TorchValue small_value() { return TorchValue::dict({{"w", torch::arange(3, torch::kFloat)}, {"step", 5}}); }

}  // namespace

TEST_CASE("files of Python's torch.save are read, and Python reads what is made of them") {
  const auto& directory = python_files();
  auto value = load_torch_file(directory.path() / "zip.pt");
  check_values(value, all_dtypes());
  check_values(load_torch_file(directory.path() / "legacy.pt"), kDtypes);
  check_values(load_torch_file(directory.path() / "protocol4.pt"), kDtypes);
  CHECK(load_torch_file(directory.path() / "numpy_scalar.pt").number() == 0.25);

  auto state_dict = load_torch_file(directory.path() / "state_dict.bin");
  CHECK((state_dict.kind() == formats::ValueKind::OrderedDict));
  CHECK(state_dict.entries()[0].first.text() == "first.weight");
  CHECK(state_dict.at("norm.num_batches_tracked").tensor().item<int64_t>() == 0);

  auto states = load_torch_file(directory.path() / "random_states.pkl");
  CHECK(states.at("random_state").items()[1].items().size() == 625);
  CHECK(states.at("numpy_random_seed").items()[1].array().shape == std::vector<int64_t>{624});
  CHECK((states.at("torch_manual_seed").tensor().sizes() == c10::IntArrayRef{5056}));

  CHECK_THROWS_WITH_AS(load_torch_file(directory.path() / "object.pt"),
                       doctest::Contains("object.pt: its pickle names the Python global __main__.Custom"), Error);

  save_torch_file(value, directory.path() / "ours.pt");
  save_torch_file(state_dict, directory.path() / "ours_state_dict.bin");
  save_torch_file(states, directory.path() / "ours.pkl");
  run_python("check", directory);
}

TEST_CASE("tensors are read one by one into where they belong, whatever their layout and type") {
  for (const char* name : {"zip.pt", "legacy.pt"}) {
    CAPTURE(name);
    const auto path = python_files().path() / name;
    const auto loaded = load_torch_file(path);
    const auto opened = open_torch_file(path);
    auto check = [](const at::Tensor& expected, const tensors::StoredTensor& stored) {
      CHECK((stored.type == expected.scalar_type()));
      CHECK((expected.sizes() == stored.shape));
      CHECK(torch::equal(stored.read().to(torch::kComplexDouble), expected.to(torch::kComplexDouble)));
      auto laid_out_alike = torch::empty_like(expected);
      stored.copy_into(laid_out_alike);
      CHECK(torch::equal(laid_out_alike.to(torch::kComplexDouble), expected.to(torch::kComplexDouble)));
      auto converted = torch::empty(expected.sizes(), torch::kComplexDouble);
      stored.copy_into(converted);
      CHECK(torch::equal(converted, expected.to(torch::kComplexDouble)));
    };
    for (const char* key : {"base", "transposed", "slice", "expanded", "empty", "scalar"}) {
      CAPTURE(key);
      check(loaded.at(key).tensor(), opened.at(key).tensor());
    }
    for (const auto& [dtype, value] : loaded.at("tensors").entries()) {
      CAPTURE(dtype.text());
      check(value.tensor(), opened.at("tensors").at(dtype.text()).tensor());
    }
  }
}

TEST_CASE("a file is compared with its checksums when it is opened, if asked for") {
  tests::TemporaryDirectory directory;
  save_torch_file(TorchValue::list({torch::zeros({50})}), directory.path() / "whole.pt");
  auto bytes = directory.read("whole.pt");
  const auto storage = bytes.find(std::string(200, '\0'));
  bytes[storage + 77] = 1;
  const auto path = directory.write("flipped.pt", bytes);
  CHECK_THROWS_WITH_AS(open_torch_file(path), doctest::Contains("flipped.pt: the checksum of"), Error);
  CHECK(open_torch_file(path, {.verify = false}).items().size() == 1);
}

TEST_CASE("tensors that share a storage are written once") {
  tests::TemporaryDirectory directory;
  auto base = torch::zeros({1 << 16});
  save_torch_file(TorchValue::list({base, base.slice(0, 1, 5), base.view({256, 256})}), directory.path() / "shared.pt");
  CHECK(std::filesystem::file_size(directory.path() / "shared.pt") < base.nbytes() + 4096);
  auto loaded = load_torch_file(directory.path() / "shared.pt").items();
  loaded[0].tensor().fill_(7);
  CHECK(loaded[1].tensor().sum().item<double>() == 28);
}

TEST_CASE("a torch file cut off at any byte is refused with its name") {
  tests::TemporaryDirectory directory;
  save_torch_file(small_value(), directory.path() / "small.pt");
  auto bytes = directory.read("small.pt");
  for (size_t size = 0; size < bytes.size(); ++size) {
    auto path = directory.write("cut.pt", bytes.substr(0, size));
    CHECK_THROWS_WITH_AS(load_torch_file(path), doctest::Contains("cut.pt: "), Error);
  }
}

TEST_CASE("a flipped bit in a torch file changes nothing or is found") {
  tests::TemporaryDirectory directory;
  save_torch_file(small_value(), directory.path() / "small.pt");
  auto bytes = directory.read("small.pt");
  for (size_t bit = 0; bit < bytes.size() * 8; bit += 3) {
    auto changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    auto path = directory.write("flipped.pt", changed);
    try {
      auto value = load_torch_file(path);
      bool same =
          torch::equal(value.at("w").tensor(), torch::arange(3, torch::kFloat)) && value.at("step").integer() == 5;
      CHECK(same);
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("flipped.pt: ") != std::string::npos);
    }
  }
}

TEST_CASE("a legacy file cut off at any byte is refused with its name") {
  tests::TemporaryDirectory directory;
  auto bytes = python_files().read("legacy.pt");
  for (size_t size = 0; size < bytes.size(); size += size < bytes.size() - 2000 ? 37 : 1) {
    auto path = directory.write("cut.pt", bytes.substr(0, size));
    CHECK_THROWS_WITH_AS(load_torch_file(path), doctest::Contains("cut.pt: "), Error);
  }
  CHECK_THROWS_WITH_AS(load_torch_file(directory.write("long.pt", bytes + "x")),
                       doctest::Contains("after its last storage"), Error);
}

TEST_CASE("a legacy file with any byte of its pickles changed loads, or is refused with its name") {
  tests::TemporaryDirectory directory;
  const auto bytes = python_files().read("legacy.pt");
  const std::filesystem::path path = directory.write("changed.pt", bytes);
  // Changed in place: to write the file again takes ten times as long.
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  auto put = [&](size_t place, char byte) { file.seekp(static_cast<std::streamoff>(place)).put(byte).flush(); };
  const auto end_of_pickles = bytes.rfind("e.") + 2;  // of the list of the storages' names
  REQUIRE(end_of_pickles > 1000);
  size_t refused = 0;
  for (size_t place = 0; place < end_of_pickles; ++place) {
    for (int change : {1, 0x20, 0xff}) {
      put(place, static_cast<char>(bytes[place] ^ change));
      const auto message = tests::failure_of([&] { load_torch_file(path); });
      refused += message.empty() ? 0 : 1;
      CHECK_MESSAGE((message.empty() || message.starts_with(path.string() + ": ")), place, " ", change, " ", message);
    }
    put(place, bytes[place]);
  }
  CHECK(refused > end_of_pickles);
}

TEST_CASE("files that are no torch files say so") {
  tests::TemporaryDirectory directory;
  for (const char* text : {"", "x", "hello world", "\x80\x02K\x01."}) {
    CHECK_THROWS_WITH_AS(load_torch_file(directory.write("other.txt", text)), doctest::Contains("other.txt: "), Error);
  }
  CHECK_THROWS_WITH_AS(load_torch_file(directory.path() / "absent.pt"), doctest::Contains("absent.pt"), Error);
  CHECK_THROWS_WITH_AS(load_torch_file(directory.path()), doctest::Contains("accelerate_test_"), Error);
  CHECK_THROWS_WITH_AS(save_torch_file(small_value(), "/nowhere/x.pt"), doctest::Contains("/nowhere"), Error);
  CHECK_THROWS_WITH_AS(save_torch_file(torch::ones({2, 2}).to_sparse(), directory.path() / "sparse.pt"),
                       doctest::Contains("dense"), Error);
}
