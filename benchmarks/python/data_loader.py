"""Batches of small samples from torch's DataLoader; bench_data_loader reads the same data in C++.

A first epoch starts the workers, which then stay, and gives the checksum of the order; the epochs after it are timed.
"""

import argparse

import torch
from side import Stopwatch, report
from torch.utils.data import DataLoader, TensorDataset

SAMPLES, VALUES, BATCH_SIZE = 20000, 784, 64


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()

    torch.manual_seed(0)
    dataset = TensorDataset(torch.rand(SAMPLES, VALUES), torch.arange(SAMPLES) % 10)
    loader = DataLoader(
        dataset,
        batch_size=BATCH_SIZE,
        shuffle=True,
        num_workers=options.workers,
        persistent_workers=options.workers > 0,
        generator=torch.Generator().manual_seed(0),
    )
    checksums = []
    for index, (values, labels) in enumerate(loader):
        if index % 20 == 0:
            checksums.append(values.double().mean().item() + labels.double().mean().item())

    stopwatch = Stopwatch()
    samples = 0
    for _ in range(options.epochs):
        for _, labels in loader:
            samples += labels.size(0)
    report(work=samples, losses=checksums, **stopwatch.seconds())


main()
