// Headers of safetensors files, right and wrong, as the reference reader takes them.

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "accelerate/formats/safetensors/header.h"
#include "tests/support/time_limit.h"

using namespace accelerate;
using namespace accelerate::formats;

namespace {

std::string with_length(uint64_t length, const std::string& rest) {
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + rest;
}

SafetensorsHeader decode(const std::string& json, size_t data_bytes = 8) {
  auto file = with_length(json.size(), json);
  return decode_safetensors_header(file, file.size() + data_bytes, "model.safetensors");
}

std::string refusal_of(const std::string& json, size_t data_bytes = 8) {
  try {
    decode(json, data_bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string tensor(const std::string& shape, const std::string& offsets = "[0,8]",
                   const std::string& dtype = "\"F32\"") {
  return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

const std::string kRight = tensor("[2]");

struct Case {
  const char* what;
  std::string json;
  const char* reason;  // part of the message
};

}  // namespace

TEST_CASE("files too short for their header are refused") {
  for (const auto& file : {std::string(), std::string("\x01\0\0", 3), with_length(0, ""), with_length(100, kRight),
                           with_length(UINT64_MAX, kRight), with_length(100'000'001, kRight)}) {
    CHECK_THROWS_WITH_AS(decode_safetensors_header(file, file.size(), "model.safetensors"),
                         doctest::Contains("model.safetensors: "), Error);
  }
}

TEST_CASE("headers that are not what the format says are refused, with the tensor and the rule") {
  std::string deep = R"({"a":{"x":)" + std::string(200, '[') + std::string(200, ']') + "}}";
  const std::vector<Case> cases = {
      {"bad UTF-8", "{\"a\xff\":0}", "UTF-8"},
      {"byte order mark", "\xef\xbb\xbf" + kRight, "byte order mark"},
      {"padding of zero bytes", kRight + std::string(3, '\0'), "zero byte"},
      {"text after the JSON", kRight + "x", "header is not the header"},
      {"a list", "[]", "not a JSON object"},
      {"a comment", "/* */" + kRight, "header is not the header"},
      {"NaN", tensor("[NaN]"), "header is not the header"},
      {"half of it", "{]", "header is not the header"},
      {"a hole at the start", tensor("[2]", "[4,12]"), "should begin at 0"},
      {"a byte too many", tensor("[1]", "[0,4]"), "copied completely"},
      {"end before begin", tensor("[2]", "[8,0]"), "should begin at 0"},
      {"too few bytes", tensor("[3]"), "its shape and type require 12"},
      {"a negative size", tensor("[-1]"), "-1, which is not a size"},
      {"a float", tensor("[2.0]"), "2.0, which is not a size"},
      {"a float in scientific form", tensor("[2e0]"), "which is not a size"},
      {"an offset of 65 bits", tensor("[2]", "[0,18446744073709551616]"), "which is not a size"},
      {"a negative offset", tensor("[2]", "[-8,0]"), "which is not a size"},
      {"one offset", tensor("[2]", "[8]"), "not two numbers"},
      {"three offsets", tensor("[2]", "[0,8,8]"), "not two numbers"},
      {"a product that wraps", tensor("[4294967296,4294967296]"), "'a' is invalid"},
      {"a product that wraps before a zero", tensor("[9223372036854775807,2,0]", "[0,0]"), "'a' is invalid"},
      {"a product that wraps behind a zero", tensor("[0,9223372036854775807,2]", "[0,0]"), "'a' is invalid"},
      {"a size of 64 bits", tensor("[0,9223372036854775808]", "[0,0]"), "'a' is invalid"},
      {"an unknown type", tensor("[2]", "[0,8]", "\"F99\""), "type of 'a' is F99"},
      {"a type in lower case", tensor("[2]", "[0,8]", "\"f32\""), "type of 'a' is f32"},
      {"a type that is a number", tensor("[2]", "[0,8]", "32"), "type of 'a' is 32"},
      {"no dtype", R"({"a":{"shape":[2],"data_offsets":[0,8]}})", "'a' has no dtype"},
      {"no shape", R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", "'a' has no shape"},
      {"no offsets", R"({"a":{"dtype":"F32","shape":[2]}})", "'a' has no data_offsets"},
      {"a tensor that is a list", R"({"a":[]})", "'a' has no dtype"},
      {"a field twice", R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "'dtype' twice"},
      {"a tensor twice", kRight.substr(0, kRight.size() - 1) + "," + kRight.substr(1), "'a' twice"},
      {"metadata twice", R"({"__metadata__":{},"__metadata__":{}})", "'__metadata__' twice"},
      {"a key of the metadata twice", R"({"__metadata__":{"k":"1","k":"2"}})", "'k' twice"},
      {"metadata that is no text", R"({"__metadata__":{"k":1}})", "header is not the header"},
      {"nested metadata", R"({"__metadata__":{"k":{}}})", "header is not the header"},
      {"metadata as a list", R"({"__metadata__":["k"]})", "header is not the header"},
      {"half of a surrogate pair", R"({"\ud800":0})", "header is not the header"},
      {"deep nesting", deep, "deep"},
  };
  for (const auto& [what, json, reason] : cases) {
    CAPTURE(what);
    auto refusal = refusal_of(json);
    CAPTURE(refusal);
    CHECK(refusal.starts_with("model.safetensors: "));
    CHECK(refusal.find(reason) != refusal.npos);
  }
}

TEST_CASE("tensors that overlap, share their bytes or leave a hole are refused") {
  auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + first +
           R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + second + "}}";
  };
  CHECK(refusal_of(two("[0,8]", "[8,16]"), 16) == "");
  CHECK(refusal_of(two("[8,16]", "[0,8]"), 16) == "");
  CHECK(refusal_of(two("[0,8]", "[4,12]"), 12).find("'b'") != std::string::npos);
  CHECK(refusal_of(two("[0,8]", "[0,8]"), 8).find("'b'") != std::string::npos);
  CHECK(refusal_of(two("[0,8]", "[12,20]"), 20).find("'b'") != std::string::npos);
  CHECK(refusal_of(two("[0,8]", "[8,16]"), 15).find("copied completely") != std::string::npos);
}

TEST_CASE("what the reference reader accepts beyond what it writes is accepted") {
  for (const std::string& json :
       std::vector<std::string>{"  " + kRight, kRight + "   ", R"({"__metadata__":null,)" + kRight.substr(1),
                                R"({"a":{"extra":[1],"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                                R"({"":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                                R"({"\u0000":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                                R"({"../x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"}) {
    CAPTURE(json);
    CHECK(refusal_of(json) == "");
  }
  CHECK(decode("{}", 0).entries.empty());
  CHECK(decode(tensor("[0,5]", "[0,0]"), 0).entries[0].shape == std::vector<int64_t>{0, 5});
}

TEST_CASE("a header of a hundred thousand tensors is read in less than two seconds") {
  SafetensorsHeader header;
  for (int i = 0; i < 100'000; ++i) {
    header.entries.push_back({.name = "layer." + std::to_string(i), .dtype = "F32", .shape = {1}});
  }
  layout_safetensors(header.entries);
  auto bytes = encode_safetensors_header(header);
  auto start = tests::cpu_time();
  auto read = decode_safetensors_header(bytes, bytes.size() + 400'000, "model.safetensors");
  CHECK(tests::cpu_time() - start < tests::limit_of(std::chrono::seconds(2)));
  CHECK(read.entries.size() == header.entries.size());
}
