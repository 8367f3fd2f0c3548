// Samples of a struct that nobody said how to collate, with a collate function inside the braces.

#include <tuple>
#include <vector>

#include "accelerate/accelerator.h"

struct Sample {
  torch::Tensor pixels;
  int64_t label = 0;
};
struct Samples {
  int64_t size() const { return 3; }
  Sample get(int64_t) const { return {}; }
};
struct SampleBatch {
  torch::Tensor pixels;
};

void load_samples() {
  accelerate::DataLoader loader(Samples(), {.batch_size = 2, .collate = [](std::vector<Sample> samples) {
                                              return SampleBatch{samples.front().pixels};
                                            }});
}
