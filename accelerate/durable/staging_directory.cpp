#include "accelerate/durable/staging_directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <vector>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/base/log.h"
#include "accelerate/durable/manifest.h"

namespace accelerate::durable {

namespace {

namespace fs = std::filesystem;

bool entry_exists(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

/// Whether a directory can be renamed from one to the other: both are on the same file system.
bool same_mount(const fs::path& one, const fs::path& other) {
  struct statx a{}, b{};
  bool known = statx(AT_FDCWD, one.c_str(), 0, STATX_MNT_ID, &a) == 0 &&
               statx(AT_FDCWD, other.c_str(), 0, STATX_MNT_ID, &b) == 0;
  return known && a.stx_mnt_id == b.stx_mnt_id && a.stx_dev_major == b.stx_dev_major &&
         a.stx_dev_minor == b.stx_dev_minor;
}

void rename_directory(const fs::path& from, const fs::path& to, const fs::path& subject) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_for_file(subject, "replaced");
}

/// The names at the top of a directory that belong to its checkpoint.
std::set<std::string> names_of_checkpoint(const fs::path& directory) {
  std::set<std::string> names = {kManifestName};
  try {
    if (auto manifest = read_manifest(directory)) {
      for (const auto& file : manifest->files) names.insert(fs::path(file.name).begin()->string());
    }
  } catch (const Error&) {
    // It is unknown what belongs to the checkpoint, so everything is kept.
  }
  return names;
}

/// Moves files that are not part of the old checkpoint into the new one, unless the new one has a file of that name.
void keep_files_of_user(const fs::path& old, const fs::path& fresh) {
  auto names = names_of_checkpoint(old);
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(old, error)) {
    if (!names.contains(entry.path().filename().string())) files.push_back(entry.path());
  }
  for (const auto& file : files) {
    auto place = fresh / file.filename();
    if (!entry_exists(place)) rename_directory(file, place, place);
  }
  if (!files.empty()) sync_directory(fresh);
}

/// Finishes a replacement that a crash interrupted. Moves the user's files out of the old directory and returns true:
/// it may be deleted. If nothing has taken its place, moves it back and returns false.
bool hand_over(const fs::path& old, const fs::path& target) {
  if (entry_exists(target)) {
    keep_files_of_user(old, target);
    return true;
  }
  rename_directory(old, target, target);
  sync_directory(target.parent_path());
  return false;
}

constexpr std::string_view kSaving = ".saving";

/// The staging directory of a target.
fs::path staging_path_of(const fs::path& target) {
  return target.parent_path() / ("." + target.filename().string() + std::string(kSaving));
}

bool is_workplace(const fs::path& path) {
  const auto name = path.filename().string();
  return name.starts_with('.') && name.ends_with(kSaving);
}

/// The entries of a directory; tolerates concurrent changes.
std::vector<fs::path> paths_in(const fs::path& directory) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory)) paths.push_back(entry.path());
  return paths;
}

void remove_tree(const fs::path& directory) {
  std::error_code error;
  fs::remove_all(directory, error);
  if (!error) return;
  get_logger("accelerate.durable").warning(directory.string() + ": cannot be removed: " + error.message());
}

}  // namespace

fs::path real_name(const fs::path& path) {
  auto name = fs::weakly_canonical(fs::absolute(path)).lexically_normal();
  return name.has_filename() ? name : name.parent_path();  // without the trailing slash
}

std::shared_ptr<StagingDirectory> StagingDirectory::for_directory(const fs::path& directory) {
  auto target = real_name(directory);
  if (target == target.root_path()) fail(target.string(), ": choose a directory below it");
  std::error_code error;
  if (fs::equivalent(target, fs::current_path(), error)) {
    fail(target.string(), ": the current directory cannot be replaced by a checkpoint; choose a directory below it");
  }
  if (entry_exists(target) && !fs::is_directory(target)) fail(target.string(), ": is a file; choose another name");
  auto home = target.parent_path();
  make_directories(home);
  if (entry_exists(target) && !same_mount(target, home)) {
    fail(target.string(), ": a mount point cannot be replaced by a checkpoint; choose a directory below it");
  }
  auto staging = shared(staging_path_of(target), home, target);
  staging->tidy_others();
  return staging;
}

std::shared_ptr<StagingDirectory> StagingDirectory::for_directories_below(const fs::path& parent) {
  auto home = real_name(parent);
  make_directories(home);
  auto beside = home.parent_path();
  bool can_be_beside = same_mount(home, beside) && access(beside.c_str(), W_OK) == 0;
  // Python takes the first number in each name below `parent` as the number of a checkpoint, and looks for the highest.
  auto path = can_be_beside ? staging_path_of(home) : home / ".0.saving";
  return shared(path, home, home);
}

std::shared_ptr<StagingDirectory> StagingDirectory::shared(const fs::path& path, const fs::path& home,
                                                           const fs::path& subject) {
  static std::mutex mutex;
  static std::map<fs::path, std::weak_ptr<StagingDirectory>> open;
  std::lock_guard guard(mutex);
  auto staging = open[path].lock();
  if (!staging) {
    staging.reset(new StagingDirectory(path, home, subject));
    open[path] = staging;
  }
  return staging;
}

StagingDirectory::StagingDirectory(fs::path path, fs::path home, const fs::path& subject)
    : path_(std::move(path)),
      home_(std::move(home)),
      run_(std::to_string(std::random_device{}())),
      lock_(path_, subject) {
  tidy();
}

void StagingDirectory::tidy() const {
  for (const auto& path : paths_in(path_)) {
    if (path.extension() == ".old") retire_old(path.stem().string());
    if (path.extension() == ".new" || path.extension() == ".removed") remove_tree(path);
  }
}

/// Cleans up the abandoned staging directories of other targets. Their own targets may never be saved again, for
/// example if a job is killed while it saves step_1000.
void StagingDirectory::tidy_others() const {
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(home_, error)) {
    const auto& other = entry.path();
    if (other != path_ && is_workplace(other) && is_abandoned(other)) take_leftovers(other, leftovers);
  }
  for (const auto& path : leftovers) remove_tree(path);
}

/// Finishes an interrupted replacement in another staging directory. Moves its leftovers here, and the caller deletes
/// them later: deleting may take long, and the lock of the other directory is held only for the renames.
void StagingDirectory::take_leftovers(const fs::path& other, std::vector<fs::path>& taken) const {
  try {
    DirectoryLock lock(other, other);
    for (const auto& path : paths_in(other)) {
      const bool is_old = path.extension() == ".old" && staging_path_of(home_ / path.stem()) == other;
      if (!is_old && path.extension() != ".new" && path.extension() != ".removed") continue;
      if (is_old && !hand_over(path, home_ / path.stem())) continue;
      const auto here = path_ / (path.filename().string() + ".removed");
      if (::rename(path.c_str(), here.c_str()) == 0) taken.push_back(here);
    }
  } catch (const std::exception&) {
    // Another process holds the lock, or a rename failed. The lock file and the other files stay for the next attempt.
  }
}

void StagingDirectory::put_in_place(const std::string& name) const {
  if (entry_exists(target(name))) {
    replace_target(name);
  } else {
    rename_directory(unfinished(name), target(name), target(name));
  }
  sync_directory(home_);
  if (entry_exists(old(name))) retire_old(name);
}

void StagingDirectory::replace_target(const std::string& name) const {
  auto fresh = unfinished(name), aside = old(name), place = target(name);
  struct stat before{};
  if (stat(place.c_str(), &before) == 0) chmod(fresh.c_str(), before.st_mode & 07777);
  // The new directory is renamed to .old first, because the exchange puts the old one under that name. If a crash comes
  // between the two, the new directory is treated as the old one and deleted, and the target is unchanged.
  rename_directory(fresh, aside, place);
  if (renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0) return;
  int error = errno;
  rename_directory(aside, fresh, place);
  if (error != EINVAL && error != ENOSYS) fail_for_file(place, "replaced", error);

  // No RENAME_EXCHANGE on this file system. After a crash between the two renames restore() finds the old directory.
  rename_directory(place, aside, place);
  if (::rename(fresh.c_str(), place.c_str()) == 0) return;
  error = errno;
  rename_directory(aside, place, place);
  fail_for_file(place, "replaced", error);
}

void StagingDirectory::retire_old(const std::string& name) const {
  if (hand_over(old(name), target(name))) discard(old(name));
}

void StagingDirectory::remove(const std::string& name) const { discard(target(name)); }

void StagingDirectory::discard(const fs::path& directory) const {
  auto removed = path_ / (directory.stem().string() + ".removed");
  if (entry_exists(removed)) remove_tree(removed);
  rename_directory(directory, removed, directory);
  sync_directory(directory.parent_path());
  remove_tree(removed);
}

void restore(const fs::path& directory) {
  const auto target = real_name(directory), place = staging_path_of(target);
  if (!target.has_filename() || !entry_exists(place / (target.filename().string() + ".old"))) return;
  if (!entry_exists(target)) {
    StagingDirectory::for_directory(target);  // cleans up
    return;
  }
  if (entry_exists(place / "lock") && !is_abandoned(place)) return;  // a running save will finish it
  try {
    StagingDirectory::for_directory(target);
  } catch (const std::exception& error) {
    get_logger("accelerate.durable")
        .warning(target.string() + ": is complete, but your own files from before the save may still be in " +
                 place.string() + ": " + error.what());
  }
}

}  // namespace accelerate::durable
