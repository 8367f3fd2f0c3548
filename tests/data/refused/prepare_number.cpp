// Something that prepare() does not take.

#include "accelerate/accelerator.h"

void prepare_number(accelerate::Accelerator& accelerator) {
  auto prepared = accelerator.prepare(3);
  (void)prepared;
}
