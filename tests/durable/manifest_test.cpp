#include "accelerate/durable/manifest.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/durable/checksum.h"
#include "accelerate/durable/seal.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::durable;

namespace {

const Manifest kManifest{.files = {{.name = "a/b.bin", .bytes = 5'000'000'000, .checksum = 0xfedcba9876543210},
                                   {.name = "model \"x\".safetensors", .bytes = 0, .checksum = 1}},
                         .metadata = {{"step", "12"}}};

/// A manifest whose only file has this name, as somebody could write it by hand.
std::string with_name(const std::string& name) {
  auto text = encode_manifest({.files = {{.name = "NAME", .bytes = 1, .checksum = 1}}});
  return text.replace(text.find("NAME"), 4, name);
}

}  // namespace

TEST_CASE("the checksum is XXH3 of the XXH3 of each piece, as Python's xxhash computes it") {
  CHECK(checksum_of(std::string_view("")) == 0x2d06800538d394c2);
  CHECK(checksum_of(std::string_view("checkpoint")) == 0x41f2bac5e8fc7b8a);
  CHECK(checksum_of(std::string(4 << 20, 'x')) == 0x1092c5ef2c88b0f6);
  CHECK(checksum_of(std::string((4 << 20) + 1, 'x')) == 0xe0d6f44465747efc);
  CHECK(checksum_of(std::string(10 << 20, 'x')) == 0x310657e1db86c56d);
}

TEST_CASE("a checksum is the same in memory, from a file, and from its pieces") {
  tests::TemporaryDirectory home;
  for (uint64_t size : {uint64_t{0}, uint64_t{1}, kChecksumPieceBytes - 1, kChecksumPieceBytes, kChecksumPieceBytes + 1,
                        3 * kChecksumPieceBytes}) {
    INFO(size, " bytes");
    std::string bytes;
    for (uint64_t i = 0; i < size; ++i) bytes += static_cast<char>(i * i >> 3);
    const auto file = File::open(home.write("file", bytes));
    std::vector<uint64_t> pieces;
    for (uint64_t begin = 0; begin < size; begin += kChecksumPieceBytes) {
      pieces.push_back(checksum_of_piece(file, begin, size));
    }
    CHECK(checksum_of(file) == checksum_of(std::string_view(bytes)));
    CHECK(checksum_of_pieces(pieces) == checksum_of(std::string_view(bytes)));
  }
}

TEST_CASE("a file has the same record whether it is sealed while it is written or afterwards") {
  tests::TemporaryDirectory home;
  SealedFile file(home.path(), "file");
  std::string bytes;
  for (size_t size : {0, 1, 127 << 10, 300 << 10, 9 << 20}) {
    std::string part(size, static_cast<char>(size % 251));
    file.append(part);
    bytes += part;
  }
  auto record = file.seal();
  CHECK(record == FileRecord{.name = "file", .bytes = bytes.size(), .checksum = checksum_of(std::string_view(bytes))});
  CHECK(record == seal_file(home.path(), "file"));
}

TEST_CASE("records and manifests come back as they went") {
  CHECK(decode_records(encode_records(kManifest.files)) == kManifest.files);
  CHECK(decode_records(encode_records({})).empty());
  CHECK(decode_manifest(encode_manifest(kManifest), "m.json") == kManifest);
  CHECK_THROWS_AS(decode_records("[1"), Error);
}

TEST_CASE("every single flipped bit of a manifest is found, and the file is named") {
  const auto text = encode_manifest(kManifest);
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    auto changed = text;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    INFO("bit ", bit);
    CHECK_THROWS_WITH_AS(decode_manifest(changed, "dir/manifest.json"), doctest::Contains("dir/manifest.json"), Error);
  }
}

TEST_CASE("a manifest that ends early is refused") {
  const auto text = encode_manifest(kManifest);
  for (size_t size = 0; size < text.size(); ++size) {
    CHECK_THROWS_AS(decode_manifest(std::string_view(text).substr(0, size), "m.json"), Error);
  }
}

TEST_CASE("names that lead out of the directory are refused by name") {
  for (auto name : {"../x", "a/../../x", "/etc/passwd", ""}) {
    CHECK_THROWS_WITH_AS(decode_manifest(with_name(name), "m.json"),
                         doctest::Contains("not a file below the directory"), Error);
  }
}

TEST_CASE("a manifest in the form of an older or a newer release says so") {
  for (auto version : {"1", "3"}) {
    auto text = encode_manifest(kManifest);
    text.replace(text.find("\"version\": 2"), 12, std::string("\"version\": ") + version);
    const auto expected = std::string("it has version ") + version + " and this release supports 2";
    CHECK_THROWS_WITH_AS(decode_manifest(text, "m.json"), doctest::Contains(expected.c_str()), Error);
  }
}

TEST_CASE("a name that JSON cannot hold is an error of ours") {
  CHECK_THROWS_WITH_AS(encode_records({{.name = "bad\xff", .bytes = 1, .checksum = 1}}), doctest::Contains("UTF-8"),
                       Error);
}
