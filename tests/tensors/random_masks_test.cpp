#include "accelerate/tensors/random_masks.h"

#include <doctest/doctest.h>

#include <cmath>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/DistributionsHelper.h>

#include "tests/support/torch.h"

using namespace accelerate;

namespace {

/// What libtorch's plain kernel makes of `mask`, one number at a time.
void fill_plainly(const at::Tensor& mask, double probability, at::Generator& generator) {
  at::bernoulli_distribution<double> bernoulli(probability);
  for (int64_t i = 0; i < mask.numel(); ++i) mask[i].fill_(bernoulli(generator.get<at::CPUGeneratorImpl>()));
}

}  // namespace

TEST_CASE("masks and the generator after them have the bits of libtorch's plain kernel") {
  auto plain = at::make_generator<at::CPUGeneratorImpl>(5), ours = plain.clone();
  for (auto type : {torch::kFloat, torch::kDouble}) {
    for (double probability : {0.0, 1e-17, 0.1, 0.3, 0.5, 0.9, 1.0}) {
      for (int64_t count : {0, 1, 2, 311, 312, 313, 2048, 2049, 10000}) {
        auto expected = torch::empty({count}, type), mask = torch::empty({count}, type);
        fill_plainly(expected, probability, plain);
        tensors::fill_mask(mask, probability, *ours.get<at::CPUGeneratorImpl>());
        CHECK(mask.equal(expected));
        CHECK(ours.get_state().equal(plain.get_state()));
        // A single word, so that the pairs of the next mask begin at another place.
        CHECK(plain.get<at::CPUGeneratorImpl>()->random() == ours.get<at::CPUGeneratorImpl>()->random());
      }
    }
  }
}

TEST_CASE("the kernel can be installed after operations have run, and has the same bits") {
  auto masks = [] {
    torch::manual_seed(4);
    return torch::stack(
        {torch::zeros({1009}).bernoulli_(0.3), torch::dropout(torch::ones({1009}), 0.1, /*train=*/true)});
  };
  auto registered = [] {
    return c10::Dispatcher::singleton().findSchemaOrThrow("aten::bernoulli_", "float").dumpState();
  };
  CHECK(registered().find("random_masks.cpp") == std::string::npos);
  const auto before = masks();
  tensors::install_mask_kernel();
  tensors::install_mask_kernel();  // the second call does nothing
  CHECK(registered().find("random_masks.cpp") != std::string::npos);
  CHECK(masks().equal(before));
}

TEST_CASE("what has no fast way takes libtorch's") {
  tensors::install_mask_kernel();
  torch::manual_seed(3);
  auto whole = torch::zeros({4, 6});
  whole.t().slice(0, 0, 3).bernoulli_(1.0);
  CHECK(whole.sum().item<double>() == 12);
  CHECK(torch::zeros({5}, torch::kLong).bernoulli_(1.0).equal(torch::ones({5}, torch::kLong)));
  CHECK(torch::zeros({5}, torch::kBFloat16).bernoulli_(1.0).sum().item<double>() == 5);
  CHECK_THROWS_AS(torch::zeros({5}).bernoulli_(1.5), c10::Error);
  CHECK_THROWS_AS(torch::zeros({5}).bernoulli_(std::nan("")), c10::Error);
}

TEST_CASE("dropout drops the share that it is asked to, and draws from the generator that is the default") {
  tensors::install_mask_kernel();
  torch::manual_seed(3);
  auto first = torch::dropout(torch::ones({100000}), 0.25, /*train=*/true);
  torch::manual_seed(3);
  CHECK(first.equal(torch::dropout(torch::ones({100000}), 0.25, /*train=*/true)));
  CHECK(!first.equal(torch::dropout(torch::ones({100000}), 0.25, /*train=*/true)));
  CHECK((first == 0).sum().item<double>() == doctest::Approx(25000).epsilon(0.03));
  CHECK(first.max().item<float>() == 1 / 0.75f);
}
