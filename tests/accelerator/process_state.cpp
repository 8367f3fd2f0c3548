// Prints what a library can change in its process: allocator, kernels, malloc, handlers, threads, environment. It is
// built twice: with libtorch alone, and with both libraries of this project.
//
//   process_state            right after the start
//   process_state joined     with a PartialState of one process
//   process_state ranks      with a PartialState, as one of two ranks

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <cxxabi.h>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/CPUAllocator.h>
#include <torch/torch.h>

#ifdef WITH_ACCELERATE
#include "accelerate/comm/partial_state.h"
#include "accelerate/ranks/run_ranks.h"
#endif

namespace {

/// Where the kernel of dropout's masks was registered.
std::string mask_kernel() {
  std::istringstream lines(c10::Dispatcher::singleton().findSchemaOrThrow("aten::bernoulli_", "float").dumpState());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("CPU")) return line;
  }
  return "none";
}

/// Larger than the threshold of a fresh process (128 KiB), smaller than that of the library (32 MiB).
const char* source_of_large_block() {
  const auto mapped = mallinfo2().hblks;
  void* volatile block = std::malloc(size_t{20} << 20);
  const bool is_mapped = mallinfo2().hblks > mapped;
  std::free(block);
  return is_mapped ? "a mapping of its own" : "the heap";
}

const char* disposition(int signal) {
  struct sigaction action{};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_DFL ? "default" : action.sa_handler == SIG_IGN ? "ignored" : "handled";
}

void print_state() {
  size_t num_threads = 0, num_variables = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) ++num_threads;
  while (environ[num_variables]) ++num_variables;
  std::cout << "allocator: " << (c10::GetCPUAllocator() == c10::GetDefaultCPUAllocator() ? "libtorch's" : "another")
            << "\nmask kernel: " << mask_kernel() << "\nblock of 20 MiB: " << source_of_large_block()
            << "\nterminate handler: "
            << (std::get_terminate() == __gnu_cxx::__verbose_terminate_handler ? "libstdc++'s" : "another")
            << "\nthreads: " << num_threads << "\nvariables: " << num_variables
            << "\nDDP_DISABLE_COMM_MEM: " << (std::getenv("DDP_DISABLE_COMM_MEM") ?: "unset") << "\n";
  for (int signal = 1; signal < 32; ++signal) std::cout << sigabbrev_np(signal) << ": " << disposition(signal) << "\n";
  // One number that depends on all bits of the mask. An odd length gives the vectorized kernel a remainder.
  torch::manual_seed(5);
  const auto mask = torch::dropout(torch::ones({10007}), 0.1, /*train=*/true);
  std::cout << std::setprecision(17) << "mask: " << (mask * torch::arange(10007)).sum(torch::kDouble).item<double>()
            << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
#ifdef WITH_ACCELERATE
  if (mode == "ranks") {
    accelerate::run_ranks(2, [](accelerate::comm::Group& group) {
      if (group.rank() == 0) print_state();
    });
    return 0;
  }
  if (mode == "joined") accelerate::PartialState state({.cpu = true});
#endif
  print_state();
}
