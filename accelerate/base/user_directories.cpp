#include "accelerate/base/user_directories.h"

#include <pwd.h>
#include <unistd.h>

#include "accelerate/base/environment.h"

namespace accelerate {

namespace fs = std::filesystem;

std::optional<fs::path> environment_directory(const std::string& variable) {
  auto value = environment_variable(variable).value_or("");
  if (value.empty()) return std::nullopt;
  if (value != "~" && !value.starts_with("~/")) return value;
  return home_directory().string() + value.substr(1);
}

NamedDirectory temporary_directory() {
  for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (auto value = environment_variable(name); value && !value->empty()) return {.path = *value, .variable = name};
  }
  return {.path = "/tmp", .variable = {}};
}

fs::path home_directory() {
  if (auto home = environment_variable("HOME"); home && !home->empty()) return *home;
  const auto* user = getpwuid(getuid());
  return user && user->pw_dir ? user->pw_dir : "/";
}

fs::path cache_home() {
  auto cache = environment_directory("XDG_CACHE_HOME");
  return cache ? *cache : home_directory() / ".cache";
}

fs::path data_home() {
  auto data = environment_directory("XDG_DATA_HOME");
  return data ? *data : home_directory() / ".local/share";
}

fs::path huggingface_home() {
  auto home = environment_directory("HF_HOME");
  return home ? *home : cache_home() / "huggingface";
}

}  // namespace accelerate
