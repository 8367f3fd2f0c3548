// A collate function that takes something else than the data set gives.

#include <string>
#include <vector>

#include "accelerate/accelerator.h"

void load_words() {
  accelerate::DataLoader loader(std::vector<int64_t>{1, 2}, [](std::vector<std::string> words) { return words; },
                                {.batch_size = 2});
}
