#include "accelerate/durable/workplace.h"

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

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

/// Whether a directory can be renamed from the one to the other.
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
    // Nobody can say what belongs to it, so everything is kept.
  }
  return names;
}

/// Moves what is not part of the old checkpoint into the new one, except where a file of the new one has the name.
void keep_files_of_user(const fs::path& old, const fs::path& fresh) {
  auto names = names_of_checkpoint(old);
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(old, error)) {
    if (!names.contains(entry.path().filename().string())) files.push_back(entry.path());
  }
  for (const auto& file : files) {
    auto place = fresh / file.filename();
    if (!is_there(place)) rename_directory(file, place, place);
  }
  if (!files.empty()) sync_directory(fresh);
}

/// Ends the replacement of a directory that a crash has interrupted. The old one hands on the files of the user, and
/// may then go; where nothing has taken its place it goes back there, and this is false.
bool hand_over(const fs::path& old, const fs::path& target) {
  if (is_there(target)) {
    keep_files_of_user(old, target);
    return true;
  }
  rename_directory(old, target, target);
  sync_directory(target.parent_path());
  return false;
}

constexpr std::string_view kSaving = ".saving";

/// Where a directory is made.
fs::path workplace_of(const fs::path& target) {
  return target.parent_path() / ("." + target.filename().string() + std::string(kSaving));
}

bool is_workplace(const fs::path& path) {
  const auto name = path.filename().string();
  return name.starts_with('.') && name.ends_with(kSaving);
}

/// What is in a directory, whatever happens to it meanwhile.
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
  return name.has_filename() ? name : name.parent_path();  // without the slash at the end
}

std::shared_ptr<Workplace> Workplace::for_directory(const fs::path& directory) {
  auto target = real_name(directory);
  if (target == target.root_path()) fail(target.string(), ": choose a directory below it");
  std::error_code error;
  if (fs::equivalent(target, fs::current_path(), error)) {
    fail(target.string(), ": the current directory cannot be replaced by a checkpoint; choose a directory below it");
  }
  if (is_there(target) && !fs::is_directory(target)) fail(target.string(), ": is a file; choose another name");
  auto home = target.parent_path();
  make_directories(home);
  if (is_there(target) && !same_mount(target, home)) {
    fail(target.string(), ": a mount point cannot be replaced by a checkpoint; choose a directory below it");
  }
  auto workplace = shared(workplace_of(target), home, target);
  workplace->tidy_others();
  return workplace;
}

std::shared_ptr<Workplace> Workplace::for_directories_below(const fs::path& parent) {
  auto home = real_name(parent);
  make_directories(home);
  auto beside = home.parent_path();
  bool can_be_beside = same_mount(home, beside) && access(beside.c_str(), W_OK) == 0;
  // Python takes the first number in each name below `parent` for that of a checkpoint, and looks for the highest.
  auto path = can_be_beside ? workplace_of(home) : home / ".0.saving";
  return shared(path, home, home);
}

std::shared_ptr<Workplace> Workplace::shared(const fs::path& path, const fs::path& home, const fs::path& subject) {
  static std::mutex mutex;
  static std::map<fs::path, std::weak_ptr<Workplace>> open;
  std::lock_guard guard(mutex);
  auto workplace = open[path].lock();
  if (!workplace) {
    workplace.reset(new Workplace(path, home, subject));
    open[path] = workplace;
  }
  return workplace;
}

Workplace::Workplace(fs::path path, fs::path home, const fs::path& subject)
    : path_(std::move(path)),
      home_(std::move(home)),
      run_(std::to_string(std::random_device{}())),
      lock_(path_, subject) {
  tidy();
}

void Workplace::tidy() const {
  for (const auto& path : paths_in(path_)) {
    if (path.extension() == ".old") retire_old(path.stem().string());
    if (path.extension() == ".new" || path.extension() == ".removed") remove_tree(path);
  }
}

/// A run that is killed while it saves step_1000 may never save that again.
void Workplace::tidy_others() const {
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(home_, error)) {
    const auto& other = entry.path();
    if (other != path_ && is_workplace(other) && is_abandoned(other)) take_leftovers(other, leftovers);
  }
  for (const auto& path : leftovers) remove_tree(path);
}

/// Ends what was interrupted there. What is no longer needed moves here, where it can be removed at leisure: whoever
/// wants to save there waits for a moment only.
void Workplace::take_leftovers(const fs::path& other, std::vector<fs::path>& taken) const {
  try {
    DirectoryLock lock(other, other);
    for (const auto& path : paths_in(other)) {
      const bool is_old = path.extension() == ".old" && workplace_of(home_ / path.stem()) == other;
      if (!is_old && path.extension() != ".new" && path.extension() != ".removed") continue;
      if (is_old && !hand_over(path, home_ / path.stem())) continue;
      const auto here = path_ / (path.filename().string() + ".removed");
      if (::rename(path.c_str(), here.c_str()) == 0) taken.push_back(here);
    }
  } catch (const std::exception&) {
    // Somebody else was faster, or it cannot be done now. The lock stays with what is left for the next one.
  }
}

void Workplace::put_in_place(const std::string& name) const {
  if (is_there(target(name))) {
    replace_target(name);
  } else {
    rename_directory(unfinished(name), target(name), target(name));
  }
  sync_directory(home_);
  if (is_there(old(name))) retire_old(name);
}

void Workplace::replace_target(const std::string& name) const {
  auto fresh = unfinished(name), aside = old(name), place = target(name);
  struct stat before{};
  if (stat(place.c_str(), &before) == 0) chmod(fresh.c_str(), before.st_mode & 07777);
  // Under the name that is right after the exchange: whoever finds it after a crash knows what to do with it.
  rename_directory(fresh, aside, place);
  if (renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0) return;
  int error = errno;
  rename_directory(aside, fresh, place);
  if (error != EINVAL && error != ENOSYS) fail_for_file(place, "replaced", error);

  // The file system cannot exchange. After a crash between the two steps restore() finds the old one.
  rename_directory(place, aside, place);
  if (::rename(fresh.c_str(), place.c_str()) == 0) return;
  error = errno;
  rename_directory(aside, place, place);
  fail_for_file(place, "replaced", error);
}

void Workplace::retire_old(const std::string& name) const {
  if (hand_over(old(name), target(name))) discard(old(name));
}

void Workplace::remove(const std::string& name) const { discard(target(name)); }

void Workplace::discard(const fs::path& directory) const {
  auto removed = path_ / (directory.stem().string() + ".removed");
  if (is_there(removed)) remove_tree(removed);
  rename_directory(directory, removed, directory);
  sync_directory(directory.parent_path());
  remove_tree(removed);
}

void restore(const fs::path& directory) {
  const auto target = real_name(directory), place = workplace_of(target);
  if (!target.has_filename() || !is_there(place / (target.filename().string() + ".old"))) return;
  if (!is_there(target)) {
    Workplace::for_directory(target);  // which tidies it
    return;
  }
  if (is_there(place / "lock") && !is_abandoned(place)) return;  // a save goes on there, and ends by itself
  try {
    Workplace::for_directory(target);
  } catch (const std::exception& error) {
    get_logger("accelerate.durable")
        .warning(target.string() + ": is whole, but files of yours from before it was saved may be in " +
                 place.string() + " still: " + error.what());
  }
}

}  // namespace accelerate::durable
