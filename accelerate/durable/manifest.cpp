#include "accelerate/durable/manifest.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/read_file.h"
#include "accelerate/durable/checksum.h"

namespace accelerate::durable {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kVersion = 2;  // 1 had the checksums of whole files
constexpr const char* kChecksumKey = "xxh3_64_of_pieces";

std::string hex_of(uint64_t number) {
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(number >> shift) & 15];
  return digits;
}

uint64_t number_of(const std::string& hex) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
  if (error != std::errc() || end != hex.data() + hex.size()) fail("'", hex, "' is not a checksum");
  return number;
}

json json_of(const std::vector<FileRecord>& records) {
  json files = json::object();
  for (const auto& record : records) {
    files[record.name] = {{"bytes", record.bytes}, {kChecksumKey, hex_of(record.checksum)}};
  }
  return files;
}

void check_name(const std::string& name) {
  fs::path path(name);
  bool leaves = path.is_absolute() || path.empty();
  for (const auto& part : path) leaves = leaves || part == "..";
  if (leaves) fail("'", name, "' is not a file below the directory");
}

/// Sorted by name, because nlohmann's objects are.
std::vector<FileRecord> records_of(const json& files) {
  std::vector<FileRecord> records;
  for (const auto& [name, file] : files.items()) {
    check_name(name);
    records.push_back({.name = name,
                       .bytes = file.at("bytes").get<uint64_t>(),
                       .checksum = number_of(file.at(kChecksumKey).get<std::string>())});
  }
  return records;
}

void check_version(int64_t version, const fs::path& path) {
  if (version == kVersion) return;
  throw UnknownVersion(path.string() + ": this manifest cannot be used: it has version " + std::to_string(version) +
                       " and this release supports " + std::to_string(kVersion) +
                       "; load the checkpoint with the release that saved it, or move it away");
}

std::string dump(const json& object) {
  try {
    return object.dump(2) + "\n";
  } catch (const json::exception&) {
    fail("a file to be saved has a name that is not UTF-8: ",
         object.dump(-1, ' ', true, json::error_handler_t::replace));
  }
}

}  // namespace

std::string encode_records(const std::vector<FileRecord>& records) { return dump(json_of(records)); }

std::vector<FileRecord> decode_records(std::string_view text) {
  try {
    return records_of(json::parse(text));
  } catch (const json::exception& error) {
    fail("these are not file records: ", error.what());
  }
}

std::string encode_manifest(const Manifest& manifest) {
  json object = {{"version", kVersion}, {"files", json_of(manifest.files)}, {"metadata", manifest.metadata}};
  object["checksum"] = hex_of(checksum_of(object.dump()));
  return dump(object);
}

Manifest decode_manifest(std::string_view text, const fs::path& path) {
  Manifest manifest;
  try {
    auto object = json::parse(text);
    check_version(object.at("version").get<int64_t>(), path);
    manifest.files = records_of(object.at("files"));
    manifest.metadata = object.at("metadata").get<std::map<std::string, std::string>>();
  } catch (const UnknownVersion&) {
    throw;
  } catch (const std::exception& error) {
    fail(path.string(), ": this manifest cannot be used: ", error.what());
  }
  // The encoding is canonical, so any changed byte is detected.
  if (encode_manifest(manifest) != text) fail(path.string(), ": this manifest has been changed since it was written");
  return manifest;
}

std::optional<Manifest> read_manifest(const fs::path& directory) {
  auto path = directory / kManifestName;
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return std::nullopt;
  return decode_manifest(read_file(path), path);
}

}  // namespace accelerate::durable
