"""Writes the learning rates and final states of every schedule that Python's get_scheduler makes.

    make_reference.py OUTPUT.json
"""

import json
import math
import sys
import warnings

import torch
from transformers import get_scheduler

METRICS = [1.0, 0.9, 0.95, 0.96, 0.97, 0.8, 0.7, 0.6, 0.5, 0.6, 0.7]

CASES = [
    ("linear", 0, 10, {}),
    ("linear", 3, 10, {}),
    ("linear", 10, 10, {}),
    ("linear", 0, 0, {}),
    ("cosine", 3, 10, {}),
    ("cosine", 3, 10, {"num_cycles": 1.25}),
    ("cosine_with_restarts", 3, 12, {}),
    ("cosine_with_restarts", 3, 12, {"num_cycles": 3}),
    ("polynomial", 3, 10, {}),
    ("polynomial", 3, 10, {"power": 2.5, "lr_end": 1e-6}),
    ("polynomial", 3, 10, {"power": 2.0, "lr_end": 1e-6}),
    ("constant", None, None, {}),
    ("constant_with_warmup", 4, None, {}),
    ("inverse_sqrt", 4, None, {}),
    ("inverse_sqrt", 0, None, {}),
    ("inverse_sqrt", 4, None, {"timescale": 9}),
    ("cosine_with_min_lr", 3, 10, {"min_lr_rate": 0.1}),
    ("cosine_with_min_lr", 3, 10, {"min_lr": 3e-6}),
    ("cosine_with_min_lr", 3, 10, {"min_lr": 3e-6, "num_cycles": 1.0}),
    ("cosine_warmup_with_min_lr", 3, 10, {"min_lr_rate": 0.1}),
    ("cosine_warmup_with_min_lr", 3, 10, {"min_lr": 4e-6, "warmup_lr_rate": 0.2}),
    ("cosine_warmup_with_min_lr", 3, 10, {"min_lr_rate": 0.1, "warmup_lr_rate": 0.2}),
    ("cosine_warmup_with_min_lr", 1, 10, {"min_lr_rate": 0.1, "warmup_lr_rate": 0.2}),
    ("warmup_stable_decay", 2, 10, {"num_decay_steps": 4}),
    ("warmup_stable_decay", 2, 10, {"num_decay_steps": 4, "decay_type": "1-sqrt", "min_lr_ratio": 0.1}),
    ("warmup_stable_decay", 2, None, {"num_decay_steps": 4, "num_stable_steps": 3, "num_cycles": 0.75}),
    ("reduce_lr_on_plateau", None, None, {"patience": 1, "factor": 0.5}),
    ("reduce_lr_on_plateau", None, None, {"patience": 1, "factor": 0.5, "mode": "max", "cooldown": 2, "min_lr": 5e-6}),
    ("reduce_lr_on_plateau", None, None, {"patience": 0, "threshold_mode": "abs", "threshold": 0.08, "eps": 1e-6}),
    ("greedy", None, None, {"patience": 1, "factor": 0.5, "min_lr": 1e-6, "max_lr": 1.0}),
    ("greedy", None, None, {"patience": 1, "factor": 0.5, "min_lr": 1e-5, "max_lr": 5e-5, "cooldown": 1, "warmup": 2}),
    ("greedy", None, None, {"patience": 0, "factor": 0.5, "min_lr": 1e-5, "reset_start": 3, "mode": "max"}),
    ("greedy", None, None, {"patience": 1, "factor": 0.5, "min_lr": 1e-6, "smooth": True, "window_size": 3}),
    ("greedy", None, None, {"threshold_mode": "rel"}),
] + [
    ("warmup_stable_decay", 3, 12, {"num_decay_steps": 5, "warmup_type": up, "decay_type": down, "min_lr_ratio": 0.1})
    for up in ("linear", "cosine", "1-sqrt")
    for down in ("linear", "cosine", "1-sqrt")
]


def finite(value):
    """The value with infinities as text, for which JSON has no numbers."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def run(name, num_warmup_steps, num_training_steps, kwargs):
    """Rates of two groups of parameters before the first step and after each."""
    weight, bias = (torch.nn.Parameter(torch.zeros(1)) for _ in range(2))
    optimizer = torch.optim.AdamW([{"params": [weight]}, {"params": [bias], "lr": 2e-5}], lr=3e-5)
    scheduler = get_scheduler(
        name,
        optimizer,
        num_warmup_steps=num_warmup_steps,
        num_training_steps=num_training_steps,
        scheduler_specific_kwargs=dict(kwargs),
    )
    follows_metric = name in ("reduce_lr_on_plateau", "greedy")
    rates = [[group["lr"] for group in optimizer.param_groups]]
    for step in range((num_training_steps or 20) + 3):
        optimizer.step()
        scheduler.step(*([METRICS[step % len(METRICS)]] if follows_metric else []))
        rates.append([group["lr"] for group in optimizer.param_groups])
    return {
        "name": name,
        "num_warmup_steps": num_warmup_steps,
        "num_training_steps": num_training_steps,
        "kwargs": kwargs,
        "rates": rates,
        "state": finite(scheduler.state_dict()),
    }


def main():
    warnings.simplefilter("ignore")
    with open(sys.argv[1], "w") as file:
        json.dump({"metrics": METRICS, "cases": [run(*case) for case in CASES]}, file)
        file.write("\n")


main()
