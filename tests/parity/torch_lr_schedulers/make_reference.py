"""Writes the learning rates and states of the schedulers of torch.optim.lr_scheduler.

    make_reference.py OUTPUT.json
"""

import json
import sys
import warnings

import torch
from torch.optim import lr_scheduler

STEPS = 30

CASES = [
    ("StepLR", {"step_size": 1, "gamma": 0.5}),
    ("StepLR", {"step_size": 4}),
    ("StepLR", {"step_size": 7, "gamma": 0.3}),
    ("MultiStepLR", {"milestones": [2, 5, 5, 11], "gamma": 0.7}),
    ("MultiStepLR", {"milestones": [0, 3]}),
    ("ConstantLR", {}),
    ("ConstantLR", {"factor": 0.3, "total_iters": 9}),
    ("LinearLR", {}),
    ("LinearLR", {"start_factor": 0.7, "end_factor": 0.05, "total_iters": 13}),
    ("LinearLR", {"start_factor": 1.0, "end_factor": 0.0, "total_iters": 7}),
    ("ExponentialLR", {"gamma": 0.93}),
    ("PolynomialLR", {}),
    ("PolynomialLR", {"total_iters": 11, "power": 2.5}),
    ("CosineAnnealingLR", {"T_max": 10}),
    ("CosineAnnealingLR", {"T_max": 7, "eta_min": 1e-5}),
    ("CosineAnnealingLR", {"T_max": 1}),
    ("CosineAnnealingWarmRestarts", {"T_0": 5}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 1e-4}),
    ("OneCycleLR", {"max_lr": [0.1], "total_steps": 30}),
    ("OneCycleLR", {"max_lr": [0.1, 0.4], "epochs": 4, "steps_per_epoch": 8, "pct_start": 0.45, "three_phase": True,
                    "anneal_strategy": "linear", "base_momentum": 0.7, "max_momentum": 0.9}),
    ("OneCycleLR", {"max_lr": [0.3], "total_steps": 40, "cycle_momentum": False, "div_factor": 7.0, "final_div_factor": 90.0}),
]

# Each with the milestones between its parts.
SEQUENCES = [
    ([("LinearLR", {"total_iters": 5}), ("CosineAnnealingLR", {"T_max": 20})], [5]),
    ([("ConstantLR", {}), ("StepLR", {"step_size": 3}), ("ExponentialLR", {"gamma": 0.9})], [4, 17]),
    ([("PolynomialLR", {}), ("CosineAnnealingWarmRestarts", {"T_0": 4}), ("MultiStepLR", {"milestones": [0, 2]})], [6, 20]),
    ([("ExponentialLR", {"gamma": 0.9}), ("ConstantLR", {"total_iters": 3}), ("LinearLR", {}), ("PolynomialLR", {})], [2, 9, 16]),
]


def two_groups(optimizer_class=torch.optim.SGD):
    weight, bias = (torch.nn.Parameter(torch.zeros(1)) for _ in range(2))
    return optimizer_class([{"params": [weight]}, {"params": [bias], "lr": 0.037}], lr=0.1)


def make(name, options, optimizer):
    if len(options.get("max_lr", [])) == 1:
        options = options | {"max_lr": options["max_lr"][0]}
    return getattr(lr_scheduler, name)(optimizer, **options)


def run(schedulers, optimizer):
    """The rates before the first step and after each, and the state in the end and before."""
    rates = [[group["lr"] for group in optimizer.param_groups]]
    states = []
    for _ in range(STEPS):
        optimizer.step()
        for scheduler in schedulers:
            scheduler.step()
        rates.append([group["lr"] for group in optimizer.param_groups])
        # As text: a key of a dict may be an integer, and the order counts.
        states.append([repr_of(scheduler.state_dict()) for scheduler in schedulers])
    return {"rates": rates, "states": states[9:10] + states[-1:]}


def repr_of(value):
    if isinstance(value, dict):
        return {"dict": [[key, repr_of(part)] for key, part in value.items()]}
    if isinstance(value, list):
        return [repr_of(part) for part in value]
    return value


def single(name, options):
    optimizer = two_groups()
    return {"name": name, "options": options, **run([make(name, options, optimizer)], optimizer)}


def momentum(name, options, optimizer_class):
    """That of the first group, before the first step and after each."""
    optimizer = two_groups(optimizer_class)
    scheduler = make(name, options, optimizer)
    values = []
    for _ in range(STEPS):
        group = optimizer.param_groups[0]
        values.append(group["momentum"] if "momentum" in group else group["betas"][0])
        optimizer.step()
        scheduler.step()
    return {"options": options, "optimizer": optimizer_class.__name__, "values": values}


def sequence(parts, milestones):
    optimizer = two_groups()
    schedulers = [make(name, options, optimizer) for name, options in parts]
    joined = lr_scheduler.SequentialLR(optimizer, schedulers, milestones)
    return {"parts": parts, "milestones": milestones, **run([joined], optimizer)}


def chain(parts):
    """Two schedulers of one optimizer, both stepped."""
    optimizer = two_groups()
    return {"parts": parts, **run([make(name, options, optimizer) for name, options in parts], optimizer)}


def main():
    warnings.simplefilter("ignore")
    reference = {
        "single": [single(*case) for case in CASES],
        "sequences": [sequence(*case) for case in SEQUENCES],
        "chains": [
            chain([("LinearLR", {"total_iters": 8}), ("CosineAnnealingLR", {"T_max": 12, "eta_min": 1e-4})]),
            chain([("ConstantLR", {}), ("ExponentialLR", {"gamma": 0.9})]),
        ],
        "momentum": [
            momentum(*case, optimizer_class)
            for case in CASES if case[0] == "OneCycleLR"
            for optimizer_class in (torch.optim.SGD, torch.optim.RMSprop, torch.optim.Adam, torch.optim.AdamW)
        ],
    }
    with open(sys.argv[1], "w") as file:
        json.dump(reference, file)
        file.write("\n")


main()
