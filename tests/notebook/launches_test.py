"""Launch after launch in one kernel: none fails, and the memory of the notebook stays.

A hundred of them when ACCELERATE_TEST_FULL is set, else ten.
"""

import os
import unittest

from kernel_client import Kernel

NUM_ROUNDS = 10 if os.environ.get("ACCELERATE_TEST_FULL") else 2
LAUNCHES_PER_ROUND = 10 if os.environ.get("ACCELERATE_TEST_FULL") else 5
MOST_GROWTH_MEGABYTES = 50

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
LAUNCH = (f"for (int i = 0; i < {LAUNCHES_PER_ROUND}; ++i) accelerate::notebook_launcher(train, {{.num_processes = 2}});\n"
          "resident_megabytes()")


class Launches(unittest.TestCase):
    def test_no_launch_fails_and_memory_stays(self):
        with Kernel() as kernel:
            self.assertEqual(kernel.run(SET_UP).status, "ok")
            megabytes = []
            for _ in range(NUM_ROUNDS):
                outcome = kernel.run(LAUNCH)
                self.assertEqual(outcome.status, "ok", outcome.error)
                megabytes.append(int(outcome.result["text/plain"]))
        print(f"resident memory of the notebook, after each {LAUNCHES_PER_ROUND} launches: {megabytes} MB")
        self.assertLess(megabytes[-1] - megabytes[0], MOST_GROWTH_MEGABYTES)


if __name__ == "__main__":
    unittest.main()
