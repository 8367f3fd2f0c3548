"""The sum of a tensor over ranks, again and again, over gloo; bench_allreduce is the same in C++."""

import argparse

import torch
import torch.distributed
from side import Stopwatch, report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--repeats", type=int, default=100)
    options = parser.parse_args()

    torch.distributed.init_process_group("gloo")
    tensor = torch.full((options.bytes // 4,), 1.0 + torch.distributed.get_rank())
    for _ in range(5):
        torch.distributed.all_reduce(tensor)
    losses = [tensor[-1].item()]
    torch.distributed.barrier()
    stopwatch = Stopwatch()
    for _ in range(options.repeats):
        torch.distributed.all_reduce(tensor)
    report(work=options.repeats, losses=losses, **stopwatch.seconds())
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


main()
