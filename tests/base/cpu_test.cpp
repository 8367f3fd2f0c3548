#include "accelerate/base/cpu.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"

using namespace accelerate;
namespace fs = std::filesystem;

namespace {

std::string cpuinfo(int packages, int cores, int threads) {
  std::string text;
  for (int package = 0; package < packages; ++package) {
    for (int core = 0; core < cores; ++core) {
      for (int thread = 0; thread < threads; ++thread) {
        text += "processor\t: 0\nphysical id\t: " + std::to_string(package) +
                "\nsiblings\t: 9\ncore id\t\t: " + std::to_string(core) + "\n\n";
      }
    }
  }
  return text;
}

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("processes divide the cores among them, and share when there are fewer") {
  const std::vector<int> cores = {0, 1, 4, 5, 8};
  CHECK(cores_of_process(cores, 0, 1) == cores);
  CHECK(cores_of_process(cores, 0, 2) == std::vector{0, 1});
  CHECK(cores_of_process(cores, 1, 2) == std::vector{4, 5});
  CHECK(cores_of_process(cores, 4, 5) == std::vector{8});
  CHECK(cores_of_process(cores, 6, 7) == std::vector{1});
}

TEST_CASE("a thread stays on the cores it is given") {
  const auto all = allowed_cores();
  REQUIRE_FALSE(all.empty());
  CHECK(available_cores() <= static_cast<int>(all.size()));
  std::thread([&] {
    CHECK(pin_to_cores({all.back()}));
    CHECK(allowed_cores() == std::vector{all.back()});
    CHECK(available_cores() == 1);
  }).join();
  CHECK(allowed_cores() == all);
  CHECK_FALSE(pin_to_cores({}));
}

TEST_CASE("hyper-threads of one core count once") {
  for (int packages : {1, 2}) {
    for (int cores : {1, 3, 4}) {
      for (int threads : {1, 2}) CHECK(count_physical_cores(cpuinfo(packages, cores, threads)) == packages * cores);
    }
  }
  CHECK(count_physical_cores("processor\t: 0\nBogoMIPS\t: 50.00\n") == 0);
}

TEST_CASE("the CPU quota is the smallest of a group and those above it") {
  char pattern[] = "/tmp/control_groups_XXXXXX";
  fs::path root = mkdtemp(pattern);
  ScopeExit clean([&] { fs::remove_all(root); });

  CHECK(control_group_cores(root, "/a/b") == std::nullopt);
  write(root / "a/b/cpu.max", "max 100000\n");
  CHECK(control_group_cores(root, "/a/b") == std::nullopt);
  write(root / "a/cpu.max", "250000 100000\n");
  CHECK(control_group_cores(root, "/a/b") == 3);
  CHECK(control_group_cores(root, "/a") == 3);
  CHECK(control_group_cores(root, "/") == std::nullopt);
  write(root / "cpu.max", "50000 100000\n");
  CHECK(control_group_cores(root, "/a/b") == 1);
  CHECK(control_group_cores(root, "/not/mounted/here") == 1);
}

TEST_CASE("the CPU quota of the first version of control groups is read too") {
  char pattern[] = "/tmp/control_groups_XXXXXX";
  fs::path root = mkdtemp(pattern);
  ScopeExit clean([&] { fs::remove_all(root); });

  write(root / "cpu/docker/x/cpu.cfs_period_us", "100000\n");
  write(root / "cpu/docker/x/cpu.cfs_quota_us", "-1\n");
  CHECK(control_group_cores(root, "/docker/x") == std::nullopt);
  write(root / "cpu/docker/x/cpu.cfs_quota_us", "200000\n");
  CHECK(control_group_cores(root, "/docker/x") == 2);
}

TEST_CASE("this machine has at least one core, and no more are available than exist") {
  CHECK(physical_cores() >= 1);
  CHECK(available_cores() >= 1);
  CHECK(available_cores() <= static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)));
}

TEST_CASE("the threads are those that OMP_NUM_THREADS wants at the outermost level, else a fair share of the cores") {
  auto wanted = [](std::optional<std::string> value) {
    PatchEnvironment variable{{"OMP_NUM_THREADS", std::move(value)}};
    return wanted_threads();
  };
  CHECK(wanted("4") == 4);
  CHECK(wanted("4,2") == 4);
  CHECK(wanted("4 , 2") == 4);
  CHECK_FALSE(wanted("0"));
  CHECK_FALSE(wanted(""));
  CHECK_FALSE(wanted(std::nullopt));
  CHECK_THROWS_WITH_AS(wanted("many"), doctest::Contains("OMP_NUM_THREADS is 'many'"), Error);
  CHECK(threads_per_process(1) == usable_cores());
  CHECK(threads_per_process(100000) == 1);
}
