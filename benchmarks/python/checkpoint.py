"""Saving and loading 500 MB of state with Python's Accelerate; bench_checkpoint does the same in C++."""

import argparse
import os
import pathlib

import torch
from accelerate import Accelerator
from side import Stopwatch, report

LAYERS, WIDTH, TIMES = 10, 2048, 3


def make_model():
    model = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)))
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
    return model


def step(model, optimizer):
    for number, weights in enumerate(model.parameters(), start=1):
        weights.grad = torch.full_like(weights, number)
    optimizer.step()
    optimizer.zero_grad()


def put_on_disk(directory):
    """What Accelerate leaves to chance: that the files are still there after the power fails."""
    for path in [*pathlib.Path(directory).iterdir(), pathlib.Path(directory)]:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--directory", required=True)
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--sync", action="store_true", help="wait until the files are on the disk, as ours does")
    parser.add_argument("--times", type=int, default=TIMES)
    options = parser.parse_args()

    accelerator = Accelerator(cpu=True)
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    model, optimizer = accelerator.prepare(model, optimizer)
    if not options.load:
        step(model, optimizer)

    stopwatch = Stopwatch()
    for _ in range(options.times):
        if options.load:
            accelerator.load_state(options.directory)
        else:
            accelerator.save_state(options.directory)
        if options.sync:
            put_on_disk(options.directory)
    seconds = stopwatch.seconds()
    fingerprint = sum(weights[0].sum().item() for weights in model.parameters())
    report(work=options.times, losses=[fingerprint], **seconds)


main()
