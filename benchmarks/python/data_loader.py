"""Batches from torch's DataLoader; bench_data_loader reads the same data in C++.

The data set is a TensorDataset, or with --texts the lines of a file as tokens for --checkpoint, padded to the longest of
their batch. A first epoch starts the workers, which then stay, and gives the checksum of the order; the epochs after it
are timed.
"""

import argparse

import torch
from side import Stopwatch, report
from torch.utils.data import DataLoader, TensorDataset

SAMPLES, VALUES, BATCH_SIZE, TOKENS = 20000, 784, 64, 128


def tokens_of(options):
    """The data set and its collate function."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(options.checkpoint)
    with open(options.texts, encoding="utf-8") as file:
        lines = file.read().split("\n")[:-1]
    encodings = tokenizer(lines, truncation=True, max_length=TOKENS)
    rows = [{name: encodings[name][i] for name in encodings} | {"labels": i % 2} for i in range(len(lines))]
    return rows, transformers.DataCollatorWithPadding(tokenizer)


def num_samples(batch):
    return len(batch[1] if isinstance(batch, list) else batch["labels"])


def checksum(batch):
    tensors = batch if isinstance(batch, list) else (batch["input_ids"], batch["attention_mask"])
    return sum(tensor.double().mean().item() for tensor in tensors)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--in_order", action="store_true")
    parser.add_argument("--prepared", action="store_true", help="by Accelerate")
    parser.add_argument("--texts")
    parser.add_argument("--checkpoint")
    options = parser.parse_args()

    torch.manual_seed(0)
    if options.texts:
        dataset, collate = tokens_of(options)
    else:
        dataset, collate = TensorDataset(torch.rand(SAMPLES, VALUES), torch.arange(SAMPLES) % 10), None
    since_made = Stopwatch()
    loader = DataLoader(
        dataset,
        batch_size=BATCH_SIZE,
        shuffle=not options.in_order,
        num_workers=options.workers,
        persistent_workers=options.workers > 0,
        collate_fn=collate,
        generator=torch.Generator().manual_seed(0),
    )
    if options.prepared:
        from accelerate import Accelerator

        since_made = Stopwatch()
        loader = Accelerator().prepare(loader)
    checksums = []
    for index, batch in enumerate(loader):
        if index == 0:
            first_batch_seconds = since_made.seconds()["wall_seconds"]
        if index % 20 == 0:
            checksums.append(checksum(batch))

    stopwatch = Stopwatch()
    samples = 0
    for _ in range(options.epochs):
        for batch in loader:
            samples += num_samples(batch)
    report(work=samples, losses=checksums, first_batch_seconds=first_batch_seconds, **stopwatch.seconds())


main()
