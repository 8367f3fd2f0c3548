// Any bytes as a pickle. One that is accepted says the same after it was written again.

#include <cstdlib>

#include "accelerate/base/error.h"
#include "accelerate/formats/pickle/pickle.h"

using namespace accelerate::formats;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    auto written = write_pickle(read_pickle({reinterpret_cast<const char*>(data), size}, "fuzz"));
    if (write_pickle(read_pickle(written, "fuzz")) != written) std::abort();
  } catch (const accelerate::Error&) {
  }
  return 0;
}
