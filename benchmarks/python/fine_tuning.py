"""The Python side of fine_tuning.cpp."""

import argparse
import os
import time

import torch
import transformers
from accelerate import Accelerator
from accelerate.utils import set_seed

from side import Stopwatch, report

BATCH_SIZE, LENGTH, BATCHES, STEPS, WARMUP, LOADS = 8, 32, 4, 20, 3, 5
LEARNING_RATE = 3e-5
FIRST_WORD = 1000


def make_batch(index):
    places = torch.arange(BATCH_SIZE * LENGTH) + index * BATCH_SIZE * LENGTH
    return {
        "input_ids": (places * 7919 % 20011 + FIRST_WORD).view(BATCH_SIZE, LENGTH),
        "attention_mask": torch.ones(BATCH_SIZE, LENGTH, dtype=torch.long),
        "labels": torch.arange(BATCH_SIZE) % 2,
    }


def load(checkpoint):
    return transformers.AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=2)


def process_age():
    """Seconds since the kernel started this process."""
    with open("/proc/self/stat") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def train(checkpoint, warmup, steps, from_start, tuned):
    accelerator = Accelerator()
    set_seed(0)
    model = load(checkpoint)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True if tuned else None)
    model, optimizer = accelerator.prepare(model, optimizer)
    model.train()
    losses = []
    for step in range(warmup + steps):
        if step == warmup:
            accelerator.wait_for_everyone()
            stopwatch = Stopwatch()
        loss = model(**make_batch(step % BATCHES)).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    seconds = stopwatch.seconds() | ({"wall_seconds": process_age()} if from_start else {})
    report(work=steps * BATCH_SIZE, losses=losses, **seconds)
    accelerator.end_training()


def load_again_and_again(checkpoint):
    torch.manual_seed(0)
    stopwatch = Stopwatch()
    total = sum(next(load(checkpoint).parameters()).sum().item() for _ in range(LOADS))
    report(work=LOADS, losses=[total], **stopwatch.seconds())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--first_step", action="store_true")
    parser.add_argument("--tuned", action="store_true")
    options = parser.parse_args()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    if options.load:
        load_again_and_again(options.checkpoint)
    elif options.first_step:
        train(options.checkpoint, 0, 1, True, options.tuned)
    else:
        train(options.checkpoint, WARMUP, STEPS, False, options.tuned)


if __name__ == "__main__":
    main()
