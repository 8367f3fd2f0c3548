// A loader of libtorch's own.

#include <torch/data.h>

#include "accelerate/accelerator.h"

struct TorchNumbers : torch::data::Dataset<TorchNumbers> {
  torch::data::Example<> get(size_t) override { return {}; }
  std::optional<size_t> size() const override { return 5; }
};

void prepare_torch_loader(accelerate::Accelerator& accelerator) {
  auto loader = torch::data::make_data_loader(TorchNumbers(), /*batch_size=*/2);
  accelerator.prepare(loader);
}
