"""One training step of a small model in a loop of Python's Accelerate; bench_training_step is the same loop in C++.

The batches are in memory and the model is a few thousand weights, so that what is measured is the cost of dispatching;
with --wide it is 6.3 million weights and few rows, so that it is the cost of moving gradients and stepping.
"""

import argparse
import dataclasses
import itertools

import torch
from accelerate import Accelerator, DistributedDataParallelKwargs
from accelerate.utils import set_seed
from side import Laps, Stopwatch, report, since_start

BATCHES = 16
LEARNING_RATE = 1e-5  # so small that the rounding by which fused and default AdamW differ does not grow over the run


@dataclasses.dataclass
class Shape:
    batch_size: int
    widths: list  # of the inputs, between the layers, and of the classes


SMALL = Shape(8, [32, 64, 64, 10])
WIDE = Shape(32, [1024] * 7)


def make_batches(rank, shape):
    count = BATCHES * shape.batch_size
    numbers = torch.arange(count * shape.widths[0]) + rank * count * shape.widths[0]
    inputs = ((numbers * 7919 % 1009).float() / 1009 - 0.5).view(BATCHES, shape.batch_size, shape.widths[0])
    labels = ((torch.arange(count) + rank) * 7 % shape.widths[-1]).view(BATCHES, shape.batch_size)
    return list(zip(inputs.unbind(), labels.unbind()))


def make_model(shape):
    layers = []
    for width, next_width in itertools.pairwise(shape.widths):
        layers += [torch.nn.Linear(width, next_width), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def step_until_a_rank_ends(step):
    """Prints when it is ready for that, and when it has noticed."""
    laps = Laps()
    try:
        for index in itertools.count():
            step(index, laps)
            if index == 0:
                print("ready", flush=True)
    except RuntimeError as error:
        print("noticed:", error, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--warmup", type=int, default=100)
    parser.add_argument("--tuned", action="store_true", help="the settings an expert would choose")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--from_start", action="store_true", help="measure since the process, or its launcher, began")
    parser.add_argument("--for_ever", action="store_true", help="go on until another rank has ended")
    options = parser.parse_args()
    shape = WIDE if options.wide else SMALL

    handlers = [DistributedDataParallelKwargs(gradient_as_bucket_view=True, static_graph=True)] if options.tuned else []
    accelerator = Accelerator(kwargs_handlers=handlers)
    set_seed(0)
    model = make_model(shape)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True if options.tuned else None)
    model, optimizer = accelerator.prepare(model, optimizer)
    batches = make_batches(accelerator.process_index, shape)

    def step(index, laps):
        inputs, labels = batches[index % BATCHES]
        laps.begin()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        laps.lap("forward")
        accelerator.backward(loss)
        laps.lap("backward")
        optimizer.step()
        optimizer.zero_grad()
        laps.lap("optimizer")
        return loss.detach()

    if options.for_ever:
        step_until_a_rank_ends(step)
        return
    losses = []
    laps = Laps()
    for index in range(options.warmup + options.steps):
        if index == options.warmup:
            accelerator.wait_for_everyone()
            stopwatch, laps = Stopwatch(), Laps()
        loss = step(index, laps)
        if index % 50 == 0:
            losses.append(loss)
    seconds = stopwatch.seconds() | (since_start() if options.from_start else {})
    report(work=options.steps, losses=[loss.item() for loss in losses], **seconds, **laps.per_step(options.steps))
    accelerator.end_training()


main()
