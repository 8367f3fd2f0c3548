// A collate function inside the braces whose batches are not those of default_collate.

#include <vector>

#include "accelerate/accelerator.h"

struct NumberBatch {
  torch::Tensor numbers;
};

void load_numbers() {
  accelerate::DataLoader loader(std::vector<int64_t>{1, 2}, {.collate = [](std::vector<int64_t> numbers) {
                                  return NumberBatch{torch::tensor(numbers)};
                                }});
}
