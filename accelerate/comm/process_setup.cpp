#include "accelerate/comm/process_setup.h"

#include <signal.h>

#include <cstdlib>
#include <string>

#include "accelerate/base/environment.h"
#include "accelerate/base/file.h"
#include "accelerate/comm/failures/watchdog.h"
#include "accelerate/process/crash_file.h"
#include "accelerate/tensors/random_masks.h"
#include "accelerate/tensors/tensor_memory.h"

namespace accelerate::comm {

namespace {

/// False if the user has opted out of this change with ACCELERATE_SETUP_<change>=0.
bool wanted(const char* change) { return environment_flag(std::string("ACCELERATE_SETUP_") + change, true); }

void set_up_memory() {
  if (environment_variable("ACCELERATE_TENSOR_MEMORY") == "system") return;
  tensors::install_pooled_allocator();
  if (wanted("MALLOC")) tensors::raise_malloc_thresholds();
}

/// A lost peer must be an error that names it, not a SIGPIPE that ends this rank silently.
void ignore_broken_pipes() {
  struct sigaction action{};
  sigaction(SIGPIPE, nullptr, &action);
  if (action.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}

}  // namespace

void process_setup() {
  static bool done = false;
  if (done) return;
  if (wanted("TERMINATE")) process::report_uncaught_exceptions();
  if (wanted("CRASHES")) process::report_crashes();
  report_file_size_limit();
  set_up_memory();
  if (wanted("MASKS")) tensors::install_mask_kernel();
  done = true;
}

void rank_setup(bool on_cpu) {
  static bool done = false;
  if (done) return;
  if (wanted("SIGPIPE")) ignore_broken_pipes();
  if (wanted("SIGUSR2")) watch_for_report_requests();
  // The Reducer allocates buckets from the backend only if this is 0. A value set by the user wins.
  if (on_cpu) setenv("DDP_DISABLE_COMM_MEM", "0", /*overwrite=*/0);
  done = true;
}

}  // namespace accelerate::comm
