// A source file whose rank 1 crashes, for `accelerate launch crashing_source.cpp`.

#include <accelerate/accelerate.h>
#include <unistd.h>

[[gnu::noinline]] void write_to(volatile int* nowhere) {
  *nowhere = 1;  // line 7, which the summary names
}

int main() {
  accelerate::Accelerator accelerator;
  if (chdir("/") != 0) return 2;
  if (accelerator.process_index() == 1) write_to(nullptr);
  accelerator.wait_for_everyone();
}
