#include "accelerate/durable/stage.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/durable/seal.h"

namespace accelerate::durable {

namespace {

namespace fs = std::filesystem;

/// All files below a directory, sorted by name. Does not follow symbolic links.
struct Contents {
  std::vector<std::string> files = {};
  std::vector<fs::path> directories = {};
};

Contents contents_of(const fs::path& directory) {
  Contents contents;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_symlink()) continue;
    if (entry.is_directory()) contents.directories.push_back(entry.path());
    if (entry.is_regular_file()) contents.files.push_back(entry.path().lexically_relative(directory).generic_string());
  }
  return contents;
}

bool by_name(const FileRecord& one, const FileRecord& other) { return one.name < other.name; }

/// The records of all files in the stage: the given ones, and new ones for the rest.
std::vector<FileRecord> complete(std::vector<FileRecord> records, const std::vector<std::string>& files,
                                 const fs::path& stage) {
  std::sort(records.begin(), records.end(), by_name);
  for (const auto& record : records) {
    if (std::find(files.begin(), files.end(), record.name) == files.end()) {
      fail((stage / record.name).string(),
           ": was written by a rank, but this rank does not see it; all ranks need the ", "same file system");
    }
  }
  auto given = records;
  for (const auto& file : files) {
    if (file == kManifestName) fail((stage / file).string(), ": this name is reserved; give the file another name");
    bool is_given = std::binary_search(given.begin(), given.end(), FileRecord{.name = file}, by_name);
    if (!is_given) records.push_back(seal_file(stage, file));
  }
  std::sort(records.begin(), records.end(), by_name);
  return records;
}

}  // namespace

Stage::Stage(const fs::path& target) : Stage(StagingDirectory::for_directory(target), real_name(target).filename()) {}

Stage::Stage(std::shared_ptr<StagingDirectory> staging, const std::string& name)
    : staging_(std::move(staging)), name_(name), path_(staging_->unfinished(name)) {
  if (mkdir(path_.c_str(), 0777) == 0) return;
  if (errno == EEXIST) fail(target().string(), ": this process is already saving here; wait until that has finished");
  fail_for_file(path_, "created");
}

Stage::~Stage() {
  std::error_code ignored;  // what cannot be removed now is removed at the next start
  if (staging_ && !committed_) fs::remove_all(path_, ignored);
}

void Stage::commit(std::vector<FileRecord> records, std::map<std::string, std::string> metadata) {
  auto contents = contents_of(path_);
  Manifest manifest{.files = complete(std::move(records), contents.files, path_), .metadata = std::move(metadata)};
  auto file = File::create(path_ / kManifestName);
  file.append(encode_manifest(manifest));
  file.flush_to_disk();
  for (const auto& directory : contents.directories) sync_directory(directory);
  sync_directory(path_);
  staging_->put_in_place(name_);
  committed_ = true;
}

}  // namespace accelerate::durable
