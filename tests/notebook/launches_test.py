"""A hundred launches in one kernel: none fails, and the memory of the notebook stays."""

import unittest

from kernel_client import Kernel

SET_UP = """
auto warm = torch::randn({600, 600}).set_requires_grad(true);
warm.matmul(warm).sum().backward();  // libtorch has its threads now

void train() {
  accelerate::Accelerator accelerator;
  torch::nn::Linear linear(8, 1);
  torch::optim::AdamW adamw(linear->parameters(), 1e-2);
  auto [model, optimizer] = accelerator.prepare(linear, adamw);
  auto x = torch::randn({64, 8});
  for (int step = 0; step < 10; ++step) {
    accelerator.backward(torch::mse_loss(model(x), x.sum(1, true)));
    optimizer.step();
    optimizer.zero_grad();
  }
}

long resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  long total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096 / 1000000;
}
"""
LAUNCH = "for (int i = 0; i < 10; ++i) accelerate::notebook_launcher(train, {.num_processes = 2});\nresident_megabytes()"


class Launches(unittest.TestCase):
    def test_a_hundred_launches(self):
        with Kernel() as kernel:
            self.assertEqual(kernel.run(SET_UP).status, "ok")
            megabytes = []
            for _ in range(10):
                outcome = kernel.run(LAUNCH)
                self.assertEqual(outcome.status, "ok", outcome.error)
                megabytes.append(int(outcome.result["text/plain"]))
        print(f"resident memory of the notebook, after each ten launches: {megabytes} MB")
        self.assertLess(megabytes[-1] - megabytes[0], 50)


if __name__ == "__main__":
    unittest.main()
