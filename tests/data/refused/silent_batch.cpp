// A batch that is a struct with tensors, and does not say which.

#include <vector>

#include "accelerate/accelerator.h"

struct SilentBatch {
  torch::Tensor numbers;
};

void prepare_silent_batches(accelerate::Accelerator& accelerator) {
  accelerate::DataLoader loader(std::vector<int64_t>{1, 2}, [](std::vector<int64_t>) { return SilentBatch(); });
  accelerator.prepare(loader);
}
