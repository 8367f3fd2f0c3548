// The sum of a tensor over ranks, again and again; benchmarks/python/allreduce.py does the same over gloo. The tensor
// lies in memory of the group, as the Reducer's buckets do; with --private in memory of its own. With --copy it is
// copied once instead: what every way of moving it costs at least. --type is float32, bfloat16 or float16. Of all times
// the one that 99 of 100 stay below is reported too.

#include <algorithm>

#include <torch/torch.h>

#include "accelerate/accelerate.h"
#include "accelerate/comm/connection.h"
#include "benchmarks/side.h"

namespace {

at::ScalarType type_of(const bench::Arguments& arguments) {
  const auto name = arguments.text("--type", "float32");
  if (name == "bfloat16") return torch::kBFloat16;
  if (name == "float16") return torch::kFloat16;
  return torch::kFloat;
}

at::Tensor make_tensor(const accelerate::comm::Group& group, int64_t count, at::ScalarType type, bool in_group) {
  if (!in_group) return torch::empty({count}, type);
  return group.connection()->process_group()->getDefaultBackend()->allocateTensor(count, type);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Arguments arguments(argc, argv);
  accelerate::PartialState state({.cpu = true});
  const auto& group = state.group();
  const auto type = type_of(arguments);
  const int64_t count = arguments.number("--bytes", 1 << 20) / static_cast<int64_t>(c10::elementSize(type));
  const int64_t repeats = arguments.number("--repeats", 100);
  auto tensor = make_tensor(group, count, type, !arguments.has("--private"));
  auto target = torch::zeros({count}, type);
  tensor.fill_(1 + state.process_index());

  std::vector<double> losses;
  auto run = [&] { arguments.has("--copy") ? (void)target.copy_(tensor) : group.all_reduce(tensor); };
  for (int i = 0; i < 5; ++i) run();
  losses.push_back(tensor[count - 1].item<double>());
  group.barrier();
  bench::Stopwatch stopwatch;
  std::vector<double> times;
  for (int64_t i = 0; i < repeats; ++i) {
    bench::Stopwatch once;
    run();
    times.push_back(once.wall_seconds());
  }
  const double wall_seconds = stopwatch.wall_seconds(), cpu_seconds = stopwatch.cpu_seconds();
  std::sort(times.begin(), times.end());
  bench::report(repeats, wall_seconds, cpu_seconds, losses, {{"p99_seconds", times[times.size() * 99 / 100]}});
  group.barrier();
}
