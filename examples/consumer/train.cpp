// A program outside of the library's own tree: it includes an installed header and links what the package names.

#include <iostream>
#include <vector>

#include <ATen/ops/ones.h>
#include <accelerate/tensors/nest.h>

int main() {
  std::vector<at::Tensor> nest = {at::ones({2}), at::ones({3})};
  int64_t elements = 0;
  accelerate::tensors::for_each_tensor(nest, [&](const at::Tensor& tensor) { elements += tensor.numel(); });
  std::cout << "elements: " << elements << "\n";
}
