// Pickles that were made to do harm, or that an accident has changed.

#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "accelerate/formats/pickle/pickle.h"

using namespace accelerate;
using namespace accelerate::formats;

namespace {

const std::string kStart = "\x80\x02";

std::string refusal_of(const std::string& program) {
  try {
    read_pickle(kStart + program, "evil.pkl");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string text(const std::string& content) {
  auto size = static_cast<uint32_t>(content.size());
  return "X" + std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + content;
}

/// The pickle of a tensor, from the parts of its persistent id and its offset, sizes and strides.
std::string tensor(const std::string& storage_class, const std::string& elements, const std::string& geometry) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "c" + storage_class + "\n" + text("0") +
         text("cpu") + elements + "tQ" + geometry + "\x89" + "ccollections\nOrderedDict\n)RtR.";
}

const std::string kFloats = "torch\nFloatStorage";

}  // namespace

TEST_CASE("a pickle that calls a function is refused with the function's name") {
  CHECK(refusal_of("cos\nsystem\n" + text("touch /tmp/x") + "\x85R.")
            .find("evil.pkl: its pickle names the Python global "
                  "os.system") == 0);
  for (const char* global :
       {"posix\nsystem", "builtins\neval", "__builtin__\nexec", "builtins\ngetattr", "subprocess\nPopen", "torch\nload",
        "torch.jit\nload", "torch._utils\n_rebuild_device_tensor_from_numpy", "numpy\nload", "collections\nnamedtuple",
        "torch.storage\n_load_from_bytes", "_codecs\ndecode", "os\nsystem\x1b[31m"}) {
    auto name = std::string(global);
    name[name.find('\n')] = '.';
    CAPTURE(name);
    auto refusal = refusal_of("c" + std::string(global) + "\n)R.");
    CHECK(refusal.find("names the Python global " + name.substr(0, name.find('\x1b'))) != refusal.npos);
    CHECK(refusal.find('\x1b') == refusal.npos);
  }
  // The same through the instruction of protocol 4.
  CHECK(refusal_of("\x8c\x02os\x8c\x06system\x93.").find("os.system") != std::string::npos);
}

TEST_CASE("instructions that do more than make values are refused with their number") {
  for (unsigned char opcode : std::string("ioPSIFLVdlpg012T\x81\x82\x83\x84\x91\x92\x96\x97\x98\xff")) {
    char number[8];
    std::snprintf(number, sizeof(number), "0x%x", opcode);
    CAPTURE(number);
    auto refusal = refusal_of("]" + std::string(1, static_cast<char>(opcode)) + "\n\n.");
    CHECK(refusal.find(std::string("the instruction ") + number + " at byte 3") != refusal.npos);
  }
}

TEST_CASE("values that are known only as parts of others are no values") {
  CHECK(refusal_of("ccollections\nOrderedDict\n.").find("collections.OrderedDict itself") != std::string::npos);
  CHECK(refusal_of("ctorch\nfloat32\n)R.").find("calls torch.float32") != std::string::npos);
  CHECK(refusal_of("(" + text("storage") + "c" + kFloats + "\n" + text("0") + text("cpu") + "K\x01tQ.")
            .find("storage of a tensor as a value") != std::string::npos);
}

TEST_CASE("a value that contains itself is refused") {
  CHECK(refusal_of("]q\x01h\x01"
                   "a.")
            .find("contains itself") != std::string::npos);
  CHECK(refusal_of("}q\x01K\x01h\x01s.").find("contains itself") != std::string::npos);
  CHECK(refusal_of("]q\x01h\x01\x85q\x02"
                   "a.")
            .find("contains itself") != std::string::npos);
}

TEST_CASE("values nested deeper than any checkpoint are refused") {
  std::string deep(100'000, ']');
  CHECK(refusal_of(deep + std::string(deep.size() - 1, 'a') + ".").find("deep") != std::string::npos);
  CHECK(refusal_of(std::string(100'000, '(') + ".") != "");
}

TEST_CASE("a small pickle does not become a large value") {
  std::string lists = "]q\x01", texts = text(std::string(1000, 'x')) + "q\x01]q\x02(";
  for (char level = 1; level < 20; ++level) {  // ten times the list before, twenty times over
    lists += "](";
    for (int i = 0; i < 10; ++i) lists += std::string("h") + level;
    lists += std::string("eq") + static_cast<char>(level + 1);
  }
  CHECK(refusal_of(lists + ".").find("expands to more than") != std::string::npos);
  for (int i = 0; i < 100'000; ++i) texts += "h\x01";
  CHECK(refusal_of(texts + "e.").find("expands to more than") != std::string::npos);
  std::string sizes = "]q\x01(";
  for (int i = 0; i < 10'000; ++i) sizes += "K\x01";
  sizes += "eq\x01]q\x02(";
  for (int i = 0; i < 10'000; ++i) sizes += "c__builtin__\nset\nh\x01\x85R";
  CHECK(refusal_of(sizes + "e.").find("expands to more than") != std::string::npos);
}

TEST_CASE("counts larger than the pickle allocate nothing") {
  for (const char* start : {"X", "B", "\x8b"}) {
    CHECK(refusal_of(start + std::string("\xff\xff\xff\x7f") + "abc.").find("truncated") != std::string::npos);
  }
  for (const char* start : {"\x8d", "\x8e", "\x95"}) {
    CHECK(refusal_of(start + std::string(8, '\xff') + "abc.").find("truncated") != std::string::npos);
  }
  CHECK(refusal_of("]r\xff\xff\xff\xff"
                   "j\xff\xff\xff\xff"
                   "a.")
            .find("contains itself") != std::string::npos);
  CHECK(refusal_of("j\xff\xff\xff\xff.").find("not in its memo") != std::string::npos);
}

TEST_CASE("instructions without their operands are refused") {
  for (const char* program : {".",
                              "a.",
                              "]a.",
                              "e.",
                              "]e.",
                              "(.",
                              "s.",
                              "}K\x01s.",
                              "}(K\x01u.",
                              "u.",
                              "t.",
                              "\x87.",
                              "R.",
                              "]R.",
                              "b.",
                              "]b.",
                              "Q.",
                              ")Q.",
                              "q\x01.",
                              "\x94.",
                              "\x93.",
                              "]]\x93.",
                              "(]a.",
                              "K\x01(a.",
                              ")(K\x01"
                              "e.",
                              "}(e.",
                              "](u.",
                              "](\x90."}) {
    CAPTURE(program);
    CHECK(refusal_of(program).find("evil.pkl: ") == 0);
  }
  CHECK_THROWS_AS(read_pickle("", "empty"), Error);
  CHECK_THROWS_WITH_AS(read_pickle("\x80\x01N.", "old"), doctest::Contains("protocol 1"), Error);
  CHECK_THROWS_WITH_AS(read_pickle("I1\n.", "older"), doctest::Contains("not a pickle of protocol"), Error);
}

TEST_CASE("keys that Python could not have are refused") {
  CHECK(refusal_of("}]K\x01s.").find("list as the key") != std::string::npos);
  CHECK(refusal_of("}]\x85K\x01s.").find("tuple as the key") != std::string::npos);
  CHECK(refusal_of("}(K\x01NK\x01Nu.").find("duplicate key") != std::string::npos);
}

TEST_CASE("tensors that reach outside of their storage are refused") {
  auto long1 = [](int64_t value) {
    return "\x8a\x08" + std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  std::string zero("K\0", 2);
  CHECK(refusal_of(tensor(kFloats, "K\x06", zero + "(K\x02K\x03t(K\x03K\x01t")) == "");  // all of the storage
  for (const auto& geometry : {
           "K\x01(K\x02K\x03t(K\x03K\x01t",    // one too far
           "J\xff\xff\xff\xff(K\x01t(K\x01t",  // a negative offset
       }) {
    CHECK(refusal_of(tensor(kFloats, "K\x06", geometry)).find("exceeds its storage") != std::string::npos);
  }
  for (const auto& geometry : {
           zero + "(" + long1(-1) + "t(K\x01t",                                 // a negative size
           zero + "(K\x02t(" + long1(-1) + "t",                                 // a negative stride
           zero + "(" + long1(INT64_MAX) + "t(" + long1(INT64_MAX) + "t",       // a product that wraps
           zero + "(K\x02K\x02t(" + long1(INT64_MAX) + long1(INT64_MAX) + "t",  // a sum that wraps
           long1(INT64_MAX) + "(K\x02t(K\x01t",
       }) {
    CHECK(refusal_of(tensor(kFloats, "K\x06", geometry)).find("exceeds its storage") != std::string::npos);
  }
  auto one = zero + "(K\x01t(K\x01t";
  CHECK(refusal_of(tensor(kFloats, long1(INT64_MAX), one)).find("is invalid") != std::string::npos);
  CHECK(refusal_of(tensor(kFloats, long1(-1), one)).find("is invalid") != std::string::npos);
  CHECK(refusal_of(tensor("collections\nOrderedDict", "K\x06", one)).find("storage class") != std::string::npos);
  CHECK(refusal_of(tensor(kFloats, "K\x06", zero + "(K\x01t)")).find("1 sizes and 0 strides") != std::string::npos);
}

TEST_CASE("a pickle cut off at any byte, or with any bit flipped, is refused or is another value") {
  using V = PickleValue;
  auto value = V::dict(
      {{"state", V::dict({{0, V::dict({{"step", 3.0}})}})},
       {"array", NumpyArray{.type = "<u4", .shape = {2}, .data = "abcdefgh"}},
       {"betas", V::tuple({0.9, 0.999})},
       {"weights",
        V::ordered_dict(
            {{"w",
              TensorReference{
                  .storage = "0", .storage_bytes = 24, .dtype = "float32", .sizes = {2, 3}, .strides = {3, 1}}}})}});
  auto bytes = write_pickle(value);
  for (size_t size = 0; size < bytes.size(); ++size) CHECK_THROWS_AS(read_pickle(bytes.substr(0, size), "cut"), Error);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    try {
      read_pickle(changed, "flipped");
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("flipped: ") == 0);
    }
  }
}
