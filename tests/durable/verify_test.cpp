#include "accelerate/durable/verify.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "accelerate/base/error.h"
#include "accelerate/durable/checksum.h"
#include "accelerate/durable/seal.h"
#include "tests/durable/saved_directory.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::durable;
using tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

/// The error of verify(), empty when there is none.
std::string complaint_about(const fs::path& directory, Check check = Check::Checksums) {
  try {
    verify(directory, check);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void flip_bit(const fs::path& path, uint64_t bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(bit / 8));
  auto byte = static_cast<char>(file.get() ^ (1 << bit % 8));
  file.seekp(static_cast<std::streamoff>(bit / 8));
  file.put(byte);
}

}  // namespace

TEST_CASE("of 200 flipped bits in the files of a checkpoint 200 are found, each with the name of its file") {
  TemporaryDirectory home;
  auto directory = home.path() / "state";
  tests::save(directory, std::string(100'000, 'x'));
  const std::vector<std::string> names = {"model.safetensors", "optimizer.bin", "manifest.json"};
  std::mt19937_64 random(1);
  int found = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const auto& name = names[trial % names.size()];
    auto bit = random() % (fs::file_size(directory / name) * 8);
    flip_bit(directory / name, bit);
    found += complaint_about(directory).find(name) != std::string::npos;
    flip_bit(directory / name, bit);
  }
  CHECK(found == 200);
  MESSAGE("flipped bits found: ", found, " of 200");
  CHECK(complaint_about(directory).empty());
}

TEST_CASE("of large files, which several threads read, all that are changed are listed in the order of the manifest") {
  TemporaryDirectory home;
  auto directory = home.path() / "state";
  tests::save(directory, std::string(20 << 20, 'x'));
  CHECK(complaint_about(directory).empty());
  flip_bit(directory / "model.safetensors", 12345);
  flip_bit(directory / "optimizer.bin", uint64_t{300} << 20);
  const auto complaint = complaint_about(directory);
  const auto model = complaint.find("model.safetensors has been changed");
  const auto optimizer = complaint.find("optimizer.bin has been changed");
  CHECK(model != std::string::npos);
  CHECK(optimizer != std::string::npos);
  CHECK(model < optimizer);
}

TEST_CASE("a flipped bit is found in each piece of a file, and so are pieces that changed places") {
  TemporaryDirectory home;
  auto directory = home.path() / "state";
  constexpr uint64_t kPieces = 3;
  tests::save(directory, std::string(kPieces * kChecksumPieceBytes - 1, 'x'));
  const auto model = directory / "model.safetensors";
  for (uint64_t piece = 0; piece < kPieces; ++piece) {
    INFO("piece ", piece);
    flip_bit(model, (piece * kChecksumPieceBytes + 77) * 8);
    CHECK(complaint_about(directory).find("model.safetensors has been changed") != std::string::npos);
    flip_bit(model, (piece * kChecksumPieceBytes + 77) * 8);
  }
  CHECK(complaint_about(directory).empty());

  auto text = home.read("state/model.safetensors");
  text[0] = 'y';
  home.write("state/model.safetensors", text);
  const auto of_first = seal_file(directory, "model.safetensors");
  std::swap(text[0], text[kChecksumPieceBytes]);
  home.write("state/model.safetensors", text);
  CHECK(damage(directory, {of_first}, Check::Checksums).size() == 1);
}

TEST_CASE("all files that are missing, torn or changed are listed, not the first alone") {
  TemporaryDirectory home;
  auto directory = home.path() / "state";
  {
    Stage stage(directory);
    tests::write_into(stage, "random_states_0.pkl", "random");
    tests::fill_and_commit(stage, "one");
  }
  fs::remove(directory / "model.safetensors");
  fs::resize_file(directory / "optimizer.bin", 2);
  flip_bit(directory / "random_states_0.pkl", 11);
  auto complaint = complaint_about(directory);
  CHECK(complaint.starts_with(directory.string()));
  CHECK(complaint.find("model.safetensors is missing") != std::string::npos);
  CHECK(complaint.find("optimizer.bin has 2 bytes instead of 6") != std::string::npos);
  CHECK(complaint.find("random_states_0.pkl has been changed") != std::string::npos);
  CHECK(complaint_about(directory, Check::Sizes).find("random_states_0.pkl") == std::string::npos);
}

TEST_CASE("a folder without a manifest, as Python writes it, is a note and no error") {
  TemporaryDirectory home;
  home.write("state/model.safetensors", "of Python");
  std::optional<Manifest> manifest;
  auto note = tests::captured_stderr([&] { manifest = verify(home.path() / "state"); });
  CHECK_FALSE(manifest);
  CHECK(note.find("there is no manifest.json") != std::string::npos);
}

TEST_CASE("verifying a missing directory names the directory") {
  CHECK(complaint_about("/nowhere/state") == "/nowhere/state: no such directory");
}
