"""Writes the learning rates of Python Accelerate's prepared schedulers, for several numbers of processes.

    make_reference.py OUTPUT.json

The scheduler's only question about other processes is how many there are, so one process that is told the number
gives the same answers. Learning rates are written as hexadecimal floats.
"""

import json
import sys
from types import SimpleNamespace
from unittest import mock

import torch
from accelerate import Accelerator
from accelerate.scheduler import AcceleratedScheduler
from accelerate.state import GradientState


def make_optimizer(lr=1.0):
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr)


def of_processes(num_processes):
    return mock.patch("accelerate.scheduler.AcceleratorState", lambda: SimpleNamespace(num_processes=num_processes))


def rate(optimizer):
    return optimizer.param_groups[0]["lr"].hex()


def lambda_rates(num_processes, split_batches, step_with_optimizer, skipped):
    """1 - n/10 over a few steps; `skipped` says which of them the scaler left out."""
    optimizer = make_optimizer()
    prepared = SimpleNamespace(step_was_skipped=False)
    scheduler = AcceleratedScheduler(
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1 - n / 10),
        prepared,
        step_with_optimizer=step_with_optimizer,
        split_batches=split_batches,
    )
    rates = [rate(optimizer)]
    for skip in skipped:
        optimizer.step()
        prepared.step_was_skipped = bool(skip)
        with of_processes(num_processes):
            scheduler.step()
        rates.append(rate(optimizer))
    return {
        "num_processes": num_processes,
        "split_batches": split_batches,
        "step_with_optimizer": step_with_optimizer,
        "skipped": skipped,
        "rates": rates,
    }


def one_cycle_epochs(num_processes, total_steps):
    optimizer = make_optimizer()
    inner = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.01, total_steps=total_steps)
    scheduler = AcceleratedScheduler(inner, SimpleNamespace(step_was_skipped=False))
    epochs = []
    for _ in range(total_steps // num_processes + 2):
        optimizer.step()
        with of_processes(num_processes):
            scheduler.step()
        epochs.append(inner.last_epoch)
    return {"num_processes": num_processes, "total_steps": total_steps, "epochs": epochs}


def linear_rates(num_processes, accumulation_steps, total_steps=20):
    """A linear decay to zero in `total_steps`, with a window of `accumulation_steps` backwards for each step."""
    optimizer = make_optimizer(lr=0.1)
    scheduler = AcceleratedScheduler(
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: max(0.0, (total_steps - n) / total_steps)),
        SimpleNamespace(step_was_skipped=False),
    )
    gradient_state = GradientState()
    rates = []
    for step in range(accumulation_steps * total_steps // num_processes):
        gradient_state._set_sync_gradients((step + 1) % accumulation_steps == 0)
        if gradient_state.sync_gradients:
            optimizer.step()
        with of_processes(num_processes):
            scheduler.step()
        rates.append(rate(optimizer))
    gradient_state._set_sync_gradients(True)
    return {"num_processes": num_processes, "accumulation_steps": accumulation_steps, "rates": rates}


def plateau_rates(num_processes):
    optimizer = make_optimizer()
    scheduler = AcceleratedScheduler(
        torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2),
        SimpleNamespace(step_was_skipped=False),
    )
    metrics = [1.0, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    rates = []
    for metric in metrics:
        with of_processes(num_processes):
            scheduler.step(metric)
        rates.append(rate(optimizer))
    return {"num_processes": num_processes, "metrics": metrics, "rates": rates}


def main():
    Accelerator(cpu=True)
    reference = {
        "lambda": [
            lambda_rates(processes, split, linked, skipped)
            for processes in (1, 2, 4)
            for split in (False, True)
            for linked in (True, False)
            for skipped in ([0, 0], [1, 0, 1, 1, 0])
        ],
        "one_cycle": [one_cycle_epochs(processes, total) for processes in (1, 2, 4) for total in (2, 3, 5)],
        "linear": [linear_rates(processes, window) for processes in (1, 2) for window in (1, 2, 4)],
        "plateau": [plateau_rates(processes) for processes in (1, 2)],
    }
    with open(sys.argv[1], "w") as file:
        json.dump(reference, file)
        file.write("\n")


main()
