"""What the state_dict of each of Python's optimizers looks like after three steps. Usage: make_reference.py OUTPUT.json

Dictionaries are lists of pairs, because their order counts. The parameters and gradients are formulas that C++ repeats.
"""

import os
import sys

import torch

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import write_reference  # noqa: E402

CASES = {
    "AdamW": {"lr": 0.02, "weight_decay": 0.1},
    "AdamW, amsgrad": {"lr": 0.02, "amsgrad": True, "betas": (0.8, 0.9)},
    "Adam": {"lr": 0.02, "eps": 1e-6},
    "SGD": {"lr": 0.1},
    "SGD, momentum": {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "nesterov": False, "weight_decay": 0.01},
    "RMSprop": {"lr": 0.01, "alpha": 0.9, "momentum": 0.5, "centered": True},
    "Adagrad": {"lr": 0.01, "lr_decay": 0.1, "initial_accumulator_value": 0.25},
}


def parameter(size):
    return torch.nn.Parameter(torch.arange(size, dtype=torch.float32) / 8 - 0.5)


def described(value):
    if isinstance(value, torch.Tensor):
        return {"type": str(value.dtype), "shape": list(value.shape), "sum": value.double().sum().item()}
    if isinstance(value, dict):
        return [[key, described(part)] for key, part in value.items()]
    if isinstance(value, (list, tuple)):
        return [described(part) for part in value]
    return value


def state_after_three_steps(name, options):
    first, second = parameter(4), parameter(6)
    optimizer = getattr(torch.optim, name.split(",")[0])([first], **options)
    optimizer.add_param_group({"params": [second], "lr": 0.5})
    for step in range(3):
        for tensor in (first, second):
            tensor.grad = torch.full_like(tensor, 0.25 * (step + 1))
        optimizer.step()
    return described(optimizer.state_dict())


if __name__ == "__main__":
    write_reference({"cases": {name: state_after_three_steps(name, options) for name, options in CASES.items()}})
