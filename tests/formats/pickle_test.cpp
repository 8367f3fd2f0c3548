#include <doctest/doctest.h>

#include <cmath>

#include "accelerate/base/error.h"
#include "accelerate/formats/pickle/pickle.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::formats;

namespace {

using V = PickleValue;

std::string all_bytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  return bytes;
}

std::string with_zeros(size_t bytes, char last) { return std::string(bytes - 1, '\0') + last; }

/// The objects of pickles.py.
V objects() {
  return V::dict({
      {"none", V()},
      {"flags", V::list({true, false})},
      {"integers", V::list({0, 255, 256, 65535, 65536, -1, int64_t{1} << 31, -(int64_t{1} << 31),
                            -(int64_t{1} << 31) - 1, INT64_MAX, INT64_MIN})},
      {"big", V::list({uint64_t{1} << 63, UINT64_MAX, BigInteger{std::string(7, '\xff') + "\x7f\xff"},
                       BigInteger{with_zeros(13, 0x10)}})},
      {"floats", V::list({0.0, -1.5, 1e300, INFINITY})},
      {"texts", V::list({"", "abc", "sch\xc3\xb6n", "\xe6\x97\xa5\xe6\x9c\xac", std::string(300, 'x')})},
      {"bytes", V::list({Bytes{}, Bytes{all_bytes()}})},
      {"tuples", V::list({V::tuple(), V::tuple({1}), V::tuple({1, 2}), V::tuple({1, 2, 3}), V::tuple({1, 2, 3, 4})})},
      {"set", V::set({7})},
      {"ordered", V::ordered_dict({{"b", 1}, {"a", 2}})},
      {"nested", V::dict({{"list", V::list({V::list(), V::list({V::list()})})},
                          {5, V::dict({{"six", 6}})},
                          {V::tuple({1, "a"}), V()}})},
  });
}

void run_python(const std::string& what, const tests::TemporaryDirectory& directory) {
  tests::Program python({std::string(ACCELERATE_SOURCE_DIR) + "/.venv/bin/python",
                         std::string(ACCELERATE_SOURCE_DIR) + "/tests/formats/pickles.py", what,
                         directory.path().string()});
  INFO(python.errors());
  REQUIRE(python.wait() == 0);
}

TensorReference tensor(const std::string& dtype) {
  auto bytes = static_cast<uint64_t>(pickle_type_of(dtype)->bytes);
  return {.storage = "0",
          .storage_bytes = 12 * bytes,
          .dtype = dtype,
          .offset = 2,
          .sizes = {2, 3},
          .strides = {1, 2},
          .requires_grad = dtype == "float32"};
}

}  // namespace

TEST_CASE("pickles of all protocols that Python writes hold the objects that it pickled") {
  tests::TemporaryDirectory directory;
  run_python("write", directory);
  for (int protocol = 2; protocol <= 5; ++protocol) {
    CAPTURE(protocol);
    auto bytes = directory.read("protocol_" + std::to_string(protocol) + ".pkl");
    REQUIRE(!bytes.empty());
    CHECK((read_pickle(bytes, "pickle") == objects()));
  }
}

TEST_CASE("Python reads the pickles that are written here") {
  tests::TemporaryDirectory directory;
  directory.write("ours.pkl", write_pickle(objects()));
  run_python("check", directory);
}

TEST_CASE("values, tensors and arrays come back from a pickle") {
  CHECK((read_pickle(write_pickle(objects()), "pickle") == objects()));
  for (const char* dtype : {"float32", "bfloat16", "bool", "complex128", "uint16", "float8_e4m3fn"}) {
    V value = V::list({tensor(dtype)});
    CHECK((read_pickle(write_pickle(value), "pickle") == value));
  }
  V array = NumpyArray{.type = "<u4", .shape = {2, 1}, .data = all_bytes().substr(124, 8)};
  CHECK((read_pickle(write_pickle(array), "pickle") == array));
}

TEST_CASE("a value of another kind than the one asked for is named") {
  auto value = objects();
  CHECK(value.at("nested").at(5).at("six").integer() == 6);
  CHECK(value.at("floats").items()[0].number() == 0);
  CHECK(value.at("integers").items()[5].number() == -1);
  CHECK(value.contains("none"));
  CHECK(value.find("absent") == nullptr);
  CHECK_THROWS_WITH_AS(value.at("absent"), doctest::Contains("absent"), Error);
  CHECK_THROWS_WITH_AS(value.text(), doctest::Contains("dict"), Error);
  CHECK_THROWS_WITH_AS(value.at("flags").entries(), doctest::Contains("list"), Error);
}

TEST_CASE("a pickle can be the first of several") {
  auto first = write_pickle(V("one"));
  size_t length = 0;
  CHECK(read_pickle(first + write_pickle(V(2)), "pickle", &length).text() == "one");
  CHECK(length == first.size());
  CHECK_THROWS_WITH_AS(read_pickle(first + "x", "file.pkl"), doctest::Contains("file.pkl: 1 bytes follow"), Error);
}
