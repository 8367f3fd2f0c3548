#include "accelerate/formats/safetensors_shards.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"

namespace accelerate::formats {

namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceBytes = size_t{4} << 20;

/// A file opened for reading or writing, closed with the object.
class File {
 public:
  File(const fs::path& path, int flags) : path_(path), fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail(path.string(), ": ", std::strerror(errno));
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(fd_); }

  void read_at(uint64_t position, char* bytes, size_t size) const {
    for (ssize_t done = 0; size > 0; bytes += done, position += done, size -= done) {
      done = pread(fd_, bytes, size, position);
      if (done == 0) fail(path_.string(), ": ends before its tensors do");
      if (done < 0) fail(path_.string(), ": cannot be read: ", std::strerror(errno));
    }
  }

  void append(const char* bytes, size_t size) const {
    for (ssize_t done = 0; size > 0; bytes += done, size -= done) {
      done = write(fd_, bytes, size);
      if (done < 0) fail(path_.string(), ": cannot be written: ", std::strerror(errno));
    }
  }

  void flush_to_disk() const {
    if (fsync(fd_) != 0) fail(path_.string(), ": cannot be written: ", std::strerror(errno));
  }

 private:
  fs::path path_;
  int fd_;
};

/// The names of the shards in an index, each once.
std::set<std::string> shard_names(const fs::path& index) {
  static const std::regex kName(R"([\w.-]+\.safetensors)");
  std::set<std::string> names;
  try {
    auto json = nlohmann::json::parse(std::ifstream(index));
    for (const auto& [tensor, file] : json.at("weight_map").items()) names.insert(file.get<std::string>());
  } catch (const nlohmann::json::exception& error) {
    fail(index.string(), ": this is not the index of a model in shards: ", error.what());
  }
  for (const auto& name : names) {
    if (!std::regex_match(name, kName) || name.starts_with(".")) {
      fail(index.string(), ": the shard '", name, "' is no safetensors file of this directory");
    }
  }
  return names;
}

std::string unreadable_formats_in(const fs::path& directory) {
  for (const auto& file : fs::directory_iterator(directory)) {
    if (file.path().extension() == ".distcp")
      return "; .distcp files are only read by Python's accelerate merge-weights";
    if (file.path().filename() == "pytorch_model.bin") return "; save the model as safetensors in Python first";
  }
  return "";
}

void check_names_differ(const std::vector<SafetensorsShard>& shards) {
  std::map<std::string, fs::path> homes;
  for (const auto& shard : shards) {
    for (const auto& entry : shard.header.entries) {
      auto [home, is_new] = homes.emplace(entry.name, shard.path);
      if (!is_new) fail(shard.path.string(), ": holds ", entry.name, ", and so does ", home->second.string());
    }
  }
}

}  // namespace

SafetensorsShard open_safetensors(const fs::path& file) {
  if (fs::is_directory(file)) fail(file.string(), ": this is a directory, not a safetensors file");
  File input(file, O_RDONLY);
  uint64_t file_bytes = fs::file_size(file);
  std::string bytes(std::min<uint64_t>(file_bytes, sizeof(uint64_t)), '\0');
  input.read_at(0, bytes.data(), bytes.size());
  auto header_bytes = safetensors_header_bytes(bytes, file_bytes, file.string());
  bytes.resize(sizeof(uint64_t) + header_bytes);
  input.read_at(0, bytes.data(), bytes.size());
  return {file, decode_safetensors_header(bytes, file_bytes, file.string()), bytes.size()};
}

std::vector<SafetensorsShard> open_safetensors_model(const fs::path& path) {
  if (!fs::exists(path)) fail(path.string(), ": no such file or directory");
  if (!fs::is_directory(path)) return {open_safetensors(path)};
  if (fs::exists(path / "model.safetensors")) return {open_safetensors(path / "model.safetensors")};
  auto index = path / "model.safetensors.index.json";
  if (!fs::exists(index)) {
    fail(path.string(), ": has neither model.safetensors nor model.safetensors.index.json",
         unreadable_formats_in(path));
  }
  std::vector<SafetensorsShard> shards;
  for (const auto& name : shard_names(index)) {
    if (!fs::exists(path / name)) fail(index.string(), ": the shard ", name, " is missing");
    shards.push_back(open_safetensors(path / name));
  }
  check_names_differ(shards);
  return shards;
}

void write_safetensors(const fs::path& file, const std::vector<ShardEntry>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  SafetensorsHeader header{.entries = {}, .metadata = metadata};
  std::map<std::string, const ShardEntry*> sources;
  for (const auto& tensor : tensors) {
    header.entries.push_back(tensor.entry);
    sources[tensor.entry.name] = &tensor;
  }
  layout_safetensors(header.entries);

  auto temporary = fs::path(file.string() + "." + std::to_string(getpid()));
  ScopeExit clean([&] { unlink(temporary.c_str()); });
  File output(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  auto bytes = encode_safetensors_header(header);
  output.append(bytes.data(), bytes.size());
  std::vector<char> piece(kPieceBytes);
  for (const auto& entry : header.entries) {
    const auto& source = *sources.at(entry.name);
    File input(source.shard->path, O_RDONLY);
    auto position = source.shard->data_begin + source.entry.begin;
    for (uint64_t left = source.bytes(); left > 0;) {
      auto size = std::min<uint64_t>(left, piece.size());
      input.read_at(position, piece.data(), size);
      output.append(piece.data(), size);
      position += size;
      left -= size;
    }
  }
  output.flush_to_disk();
  fs::rename(temporary, file);
  clean.release();
}

std::vector<std::vector<ShardEntry>> divide_into_shards(const std::vector<ShardEntry>& tensors, uint64_t max_bytes) {
  std::vector<std::vector<ShardEntry>> shards;
  std::vector<std::vector<ShardEntry>> large;
  uint64_t filled = 0;
  for (const auto& tensor : tensors) {
    if (tensor.bytes() > max_bytes) {
      large.push_back({tensor});
      continue;
    }
    if (shards.empty() || filled + tensor.bytes() > max_bytes) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().push_back(tensor);
    filled += tensor.bytes();
  }
  shards.insert(shards.end(), large.begin(), large.end());
  return shards;
}

}  // namespace accelerate::formats
