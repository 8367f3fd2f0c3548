"""The sum of a tensor over ranks, again and again, over gloo; bench_allreduce is the same in C++."""

import argparse
import time

import torch
import torch.distributed
from side import Stopwatch, report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--type", choices=("float32", "bfloat16", "float16"), default="float32")
    options = parser.parse_args()

    torch.distributed.init_process_group("gloo")
    dtype = getattr(torch, options.type)
    tensor = torch.full((options.bytes // dtype.itemsize,), 1.0 + torch.distributed.get_rank(), dtype=dtype)
    for _ in range(5):
        torch.distributed.all_reduce(tensor)
    losses = [tensor[-1].item()]
    torch.distributed.barrier()
    stopwatch = Stopwatch()
    times = []
    for _ in range(options.repeats):
        began = time.perf_counter()
        torch.distributed.all_reduce(tensor)
        times.append(time.perf_counter() - began)
    seconds = stopwatch.seconds()
    report(work=options.repeats, losses=losses, p99_seconds=sorted(times)[len(times) * 99 // 100], **seconds)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


main()
