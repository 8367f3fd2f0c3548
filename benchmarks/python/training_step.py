"""One training step of a small model in a loop of Python's Accelerate; bench_training_step is the same loop in C++.

The batches are in memory and the model is a few thousand weights, so that what is measured is the cost of dispatching.
"""

import argparse

import torch
from accelerate import Accelerator, DistributedDataParallelKwargs
from accelerate.utils import set_seed
from side import Stopwatch, report

BATCH_SIZE, INPUTS, HIDDEN, CLASSES, BATCHES = 8, 32, 64, 10, 16
LEARNING_RATE = 1e-5  # so small that the rounding by which fused and default AdamW differ does not grow over the run


def make_batches(rank):
    count = BATCHES * BATCH_SIZE
    numbers = torch.arange(count * INPUTS) + rank * count * INPUTS
    inputs = ((numbers * 7919 % 1009).float() / 1009 - 0.5).view(BATCHES, BATCH_SIZE, INPUTS)
    labels = ((torch.arange(count) + rank) * 7 % CLASSES).view(BATCHES, BATCH_SIZE)
    return list(zip(inputs.unbind(), labels.unbind()))


def make_model():
    return torch.nn.Sequential(
        torch.nn.Linear(INPUTS, HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, CLASSES),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--warmup", type=int, default=100)
    parser.add_argument("--tuned", action="store_true", help="the settings an expert would choose")
    options = parser.parse_args()

    handlers = [DistributedDataParallelKwargs(gradient_as_bucket_view=True, static_graph=True)] if options.tuned else []
    accelerator = Accelerator(kwargs_handlers=handlers)
    set_seed(0)
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True if options.tuned else None)
    model, optimizer = accelerator.prepare(model, optimizer)
    batches = make_batches(accelerator.process_index)

    losses = []
    for step in range(options.warmup + options.steps):
        if step == options.warmup:
            accelerator.wait_for_everyone()
            stopwatch = Stopwatch()
        inputs, labels = batches[step % BATCHES]
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        if step % 50 == 0:
            losses.append(loss.detach())
    seconds = stopwatch.seconds()
    report(work=options.steps, losses=[loss.item() for loss in losses], **seconds)
    accelerator.end_training()


main()
