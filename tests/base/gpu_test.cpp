#include "accelerate/base/gpu.h"

#include <doctest/doctest.h>

#include "tests/support/temporary_directory.h"

using namespace accelerate;

TEST_CASE("GPUs are counted by their device files") {
  tests::TemporaryDirectory directory;
  CHECK(count_gpus(directory.path().string()) == 0);
  for (auto name : {"nvidia0", "nvidia1", "nvidia12", "nvidiactl", "nvidia-uvm", "nvidia", "null"}) {
    directory.write(name, "");
  }
  CHECK(count_gpus(directory.path().string()) == 3);
  CHECK(count_gpus("/nowhere") == 0);
}
