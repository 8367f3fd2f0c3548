#include "accelerate/base/user_directories.h"

#include <doctest/doctest.h>

#include "accelerate/base/environment.h"

namespace accelerate {

TEST_CASE("directories of a user follow the variables, of which empty ones do not count") {
  PatchEnvironment patch{{"HOME", "/users/ada"}, {"XDG_CACHE_HOME", ""}, {"HF_HOME", std::nullopt}};
  CHECK(cache_home() == "/users/ada/.cache");
  CHECK(huggingface_home() == "/users/ada/.cache/huggingface");
  CHECK(environment_directory("XDG_CACHE_HOME") == std::nullopt);
  for (auto [value, directory] : {std::pair("", "/users/ada/.local/share"), {"~/data", "/users/ada/data"}}) {
    PatchEnvironment with_data{{"XDG_DATA_HOME", value}};
    CHECK(data_home() == directory);
  }

  PatchEnvironment with_cache{{"XDG_CACHE_HOME", "/cache"}};
  CHECK(huggingface_home() == "/cache/huggingface");
  PatchEnvironment with_home{{"HF_HOME", "~/models"}};
  CHECK(huggingface_home() == "/users/ada/models");
  PatchEnvironment another{{"HF_HOME", "~ada"}};
  CHECK(huggingface_home() == "~ada");
}

TEST_CASE("an empty TMPDIR is none") {
  PatchEnvironment none{{"TMPDIR", ""}, {"TMP", std::nullopt}, {"TEMP", ""}, {"TEMPDIR", std::nullopt}};
  CHECK(temporary_directory().path == "/tmp");
  CHECK(temporary_directory().variable == "");
  PatchEnvironment one{{"TEMP", "/scratch"}};
  CHECK(temporary_directory().path == "/scratch");
  CHECK(temporary_directory().variable == "TEMP");
  PatchEnvironment two{{"TMPDIR", "/first"}};
  CHECK(temporary_directory().path == "/first");
}

TEST_CASE("the home directory is known without HOME") {
  PatchEnvironment patch{{"HOME", std::nullopt}};
  CHECK(home_directory().is_absolute());
}

}  // namespace accelerate
