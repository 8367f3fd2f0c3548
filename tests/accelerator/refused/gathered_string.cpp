// One string of each rank, for which the type has no room.

#include <string>

#include "accelerate/accelerator.h"

void gather_a_string(accelerate::Accelerator& accelerator) {
  accelerator.gather(std::pair(torch::Tensor(), std::string("text")));
}
