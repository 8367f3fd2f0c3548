// A sample that names a number among its fields: a batch of the same type has no place for the tensor of these numbers.

#include <tuple>

#include "accelerate/accelerator.h"

struct Labelled {
  torch::Tensor image;
  int64_t label = 0;
};
auto tensor_fields(Labelled& sample) { return std::tie(sample.image, sample.label); }

struct LabelledImages {
  int64_t size() const { return 3; }
  Labelled get(int64_t) const { return {}; }
};

void load_labelled() { accelerate::DataLoader loader(LabelledImages(), {.batch_size = 2}); }
