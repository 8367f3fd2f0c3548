"""Writes what Python's optimizers, gradient clipping and GradScaler do to two small parameters.

    make_reference.py OUTPUT.json

Floats are stored as the integers of their bits. Both languages draw the same numbers from torch's generator, so the
inputs need no file.
"""

import json
import sys

import torch

STEPS = 12
SHAPES = [(7, 5), (13,)]

CASES = {
    "AdamW": [
        {},
        {"lr": 3e-2, "betas": [0.8, 0.95], "eps": 1e-6, "weight_decay": 0.1},
        {"lr": 1e-2, "amsgrad": True},
        {"lr": 1e-2, "weight_decay": 0.0},
    ],
    "Adam": [
        {},
        {"lr": 3e-2, "weight_decay": 0.1},
        {"lr": 1e-2, "betas": [0.5, 0.9], "amsgrad": True},
    ],
    "SGD": [
        {"lr": 0.1},
        {"lr": 0.1, "weight_decay": 0.05},
        {"lr": 0.1, "momentum": 0.9},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01},
        {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    ],
    "RMSprop": [
        {},
        {"lr": 0.03, "alpha": 0.9, "eps": 1e-6, "weight_decay": 0.1},
        {"lr": 0.01, "momentum": 0.9},
        {"lr": 0.01, "centered": True},
        {"lr": 0.01, "alpha": 0.9, "momentum": 0.5, "centered": True, "weight_decay": 0.01},
    ],
    "Adagrad": [
        {},
        {"lr": 0.1, "lr_decay": 0.1, "eps": 1e-6, "weight_decay": 0.05, "initial_accumulator_value": 0.25},
    ],
}
# Those that Python has fused kernels of, and C++ too.
FUSED = ("AdamW", "Adam", "SGD")


def bits(tensor):
    return tensor.detach().float().flatten().view(torch.int32).tolist()


def parameters():
    torch.manual_seed(7)
    return [torch.nn.Parameter(torch.randn(shape)) for shape in SHAPES]


def train(name, options, fused):
    """Twelve steps with a falling learning rate; the second parameter has no gradient in steps 4 and 5."""
    params = parameters()
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    if fused:
        options["fused"] = True
    optimizer = getattr(torch.optim, name)(params, **options)
    options.pop("fused", None)
    for step in range(STEPS):
        for index, param in enumerate(params):
            gradient = torch.randn(param.shape) * 10.0 ** -(step % 4)
            param.grad = None if index == 1 and step in (4, 5) else gradient
        optimizer.step()
        optimizer.param_groups[0]["lr"] *= 0.9
    return {
        "optimizer": name,
        "options": options,
        "fused": fused,
        "parameters": [bits(param) for param in params],
        "state": {
            key: [bits(optimizer.state[param][key]) for param in params]
            for key in ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "momentum_buffer", "square_avg", "grad_avg", "sum")
            if key in optimizer.state[params[0]]
        },
    }


def clip(max_norm, norm_type):
    params = parameters()
    for param in params:
        param.grad = torch.randn(param.shape)
    norm = torch.nn.utils.clip_grad_norm_(params, max_norm, norm_type)
    return {
        "max_norm": max_norm,
        "norm_type": str(norm_type),
        "norm": bits(norm),
        "gradients": [bits(param.grad) for param in params],
    }


def clip_value(limit):
    params = parameters()
    for param in params:
        param.grad = torch.randn(param.shape)
    torch.nn.utils.clip_grad_value_(params, limit)
    return {"clip_value": limit, "gradients": [bits(param.grad) for param in params]}


def scaling():
    """Sixteen scaled steps of SGD, some of them with a gradient that is not finite."""
    overflows = {2: float("inf"), 3: float("nan"), 9: float("inf"), 15: float("-inf")}
    params = parameters()
    optimizer = torch.optim.SGD(params, lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=48.0, growth_factor=3.0, backoff_factor=0.25, growth_interval=3)
    trace = []
    for step in range(16):
        optimizer.zero_grad()
        loss = sum((param * torch.randn(param.shape)).sum() for param in params)
        scaler.scale(loss * overflows.get(step, 1.0)).backward()
        before = bits(params[1])
        scaler.step(optimizer)
        scaler.update()
        state = scaler.state_dict()
        trace.append(
            {"skipped": bits(params[1]) == before, "scale": state["scale"], "growth_tracker": state["_growth_tracker"]}
        )
    return {"trace": trace, "parameters": [bits(param) for param in params]}


def main():
    torch.set_num_threads(1)
    reference = {
        "optimizers": [
            train(name, options, fused)
            for name, cases in CASES.items()
            for options in cases
            for fused in ((True, False) if name in FUSED else (False,))
        ],
        "clip_grad_norm": [clip(1.0, 2.0), clip(100.0, 2.0), clip(0.5, 1.0), clip(0.1, float("inf"))],
        "clip_grad_value": clip_value(0.5),
        "grad_scaler": scaling(),
    }
    with open(sys.argv[1], "w") as file:
        json.dump(reference, file)
        file.write("\n")


main()
