#include <doctest/doctest.h>

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"
#include "accelerate/formats/crc32.h"
#include "accelerate/formats/zip/reader.h"
#include "accelerate/formats/zip/writer.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::formats;

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

std::string zip_of(const Files& files) {
  std::string zip;
  ZipWriter writer([&](std::string_view bytes) { zip += bytes; });
  for (const auto& [name, bytes] : files) writer.add(name, bytes);
  writer.finish();
  return zip;
}

ZipReader reader_of(const std::string& zip) {
  return ZipReader(
      [&zip](uint64_t position, char* destination, size_t bytes) {
        REQUIRE(position + bytes <= zip.size());
        std::memcpy(destination, zip.data() + position, bytes);
      },
      zip.size(), "file.zip");
}

const Files kFiles = {{"a/data.pkl", std::string(300, 'p')}, {"a/empty", ""}, {"a/data/0", "0123456789"}};

int python(const std::string& program, const std::string& argument) {
  return tests::Program({"python3", "-c", program, argument}).wait();
}

}  // namespace

TEST_CASE("the checksum is the one of zip files") {
  CHECK(crc32("123456789") == 0xcbf43926);
  CHECK(crc32("") == 0);
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += static_cast<char>(i * 37);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    CHECK(crc32(bytes.substr(cut), crc32(bytes.substr(0, cut))) == crc32(bytes));
  }
}

TEST_CASE("the checksum is the same byte by byte and in one go, for all sizes and places in memory") {
  std::string bytes;
  for (int i = 0; i < 700; ++i) bytes += static_cast<char>(i * i * 37 >> 2);
  for (size_t begin = 0; begin < 17; ++begin) {
    uint32_t sum = 0;
    for (size_t end = begin; end < bytes.size(); ++end) {
      CHECK(crc32(std::string_view(bytes).substr(begin, end - begin)) == sum);
      sum = crc32(std::string_view(bytes).substr(end, 1), sum);
    }
  }
}

TEST_CASE("entries come back from a zip file, each on a multiple of 64 bytes") {
  auto zip = zip_of(kFiles);
  auto reader = reader_of(zip);
  CHECK(reader.entries().size() == kFiles.size());
  for (const auto& [name, bytes] : kFiles) {
    CHECK(reader.read(name) == bytes);
    CHECK(reader.at(name).begin % 64 == 0);
  }
  CHECK_THROWS_WITH_AS(reader.read("a/data/1"), doctest::Contains("file.zip: has no entry a/data/1"), Error);
  CHECK(reader_of(zip_of({})).entries().empty());
}

TEST_CASE("Python reads the zip files that are written here, and the other way round") {
  tests::TemporaryDirectory directory;
  auto ours = directory.write("ours.zip", zip_of(kFiles));
  CHECK(python("import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; "
               "assert [(i.filename, i.file_size) for i in z.infolist()] == "
               "[('a/data.pkl', 300), ('a/empty', 0), ('a/data/0', 10)]; assert z.read('a/data/0') == b'0123456789'",
               ours) == 0);
  auto theirs = (directory.path() / "theirs.zip").string();
  CHECK(python("import sys, zipfile; z = zipfile.ZipFile(sys.argv[1], 'w'); z.writestr('x', 'content'); "
               "z.comment = b'a comment'; z.close()",
               theirs) == 0);
  auto zip = directory.read("theirs.zip");
  CHECK(reader_of(zip).read("x") == "content");
  CHECK(python("import sys, zipfile; z = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED); "
               "z.writestr('x', 'content' * 9); z.close()",
               theirs) == 0);
  zip = directory.read("theirs.zip");
  CHECK_THROWS_WITH_AS(reader_of(zip), doctest::Contains("compressed"), Error);
}

TEST_CASE("entries beyond 4 GiB are found by their positions of 64 bits" *
          doctest::skip(std::getenv("ACCELERATE_TEST_FULL") == nullptr)) {
  // Zeros that take no memory are written nowhere: what counts is what the writer says about them.
  constexpr uint64_t kLarge = (uint64_t{1} << 32) + 5;
  void* zeros = mmap(nullptr, kLarge, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(zeros != MAP_FAILED);
  ScopeExit unmap([&] { munmap(zeros, kLarge); });
  std::string head, tail;
  uint64_t position = 0;
  ZipWriter writer([&](std::string_view bytes) {
    if (bytes.size() < kLarge) (position < kLarge ? head : tail) += bytes;
    position += bytes.size();
  });
  writer.add("large", {static_cast<const char*>(zeros), kLarge});
  writer.add("after", "small");
  writer.finish();
  ZipReader reader(
      [&](uint64_t at, char* destination, size_t bytes) {
        for (uint64_t i = at; i < at + bytes; ++i) {
          bool is_tail = i >= head.size() + kLarge;
          *destination++ = i < head.size() ? head[i] : is_tail ? tail[i - head.size() - kLarge] : '\0';
        }
      },
      position, "large.zip");
  CHECK(reader.at("large").bytes == kLarge);
  CHECK(reader.read("after") == "small");
}

TEST_CASE("a zip file cut off at any byte is refused with its name") {
  auto zip = zip_of(kFiles);
  for (size_t size = 0; size < zip.size(); ++size) {
    CHECK_THROWS_WITH_AS(reader_of(zip.substr(0, size)), doctest::Contains("file.zip: "), Error);
  }
}

TEST_CASE("a flipped bit in a zip file is found, or is in a field that nobody reads") {
  auto zip = zip_of(kFiles);
  int found = 0;
  for (size_t bit = 0; bit < zip.size() * 8; ++bit) {
    auto changed = zip;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    try {
      auto reader = reader_of(changed);
      for (const auto& [name, bytes] : kFiles) {
        auto content = reader.read(name);
        CHECK(content == bytes);
      }
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("file.zip: ") == 0);
      ++found;
    }
  }
  CHECK(found > 310 * 8);  // each bit of the contents, and more
}

TEST_CASE("entries that overlap are refused, so that a file cannot be larger than it is") {
  auto zip = zip_of({{"a", std::string(200, 'x')}, {"a", std::string(200, 'x')}});
  CHECK_THROWS_WITH_AS(reader_of(zip), doctest::Contains("the same name"), Error);
  zip = zip_of({{"a", std::string(200, 'x')}, {"b", std::string(200, 'x')}});
  auto second = zip.rfind("PK\x01\x02");
  auto first = zip.find("PK\x01\x02");
  std::memcpy(zip.data() + second, zip.data() + first, 47);  // the directory lists the first entry twice
  CHECK_THROWS_WITH_AS(reader_of(zip), doctest::Contains("overlap"), Error);
}
