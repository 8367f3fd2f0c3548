"""A small image classifier with dropout, trained for 20 steps on 1 and 2 ranks. Usage: make_reference.py OUTPUT.json

Everything comes from the seed and from integer formulas, so that C++ can repeat it: initial weights, shuffles and dropout masks
use the same generator in the same order. Sums of the final parameters are taken in double precision, which keeps every bit of
theirs: equal sums and sums of squares mean, in practice, equal parameters.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import run_on_ranks, runs_of, sums_of_parameters, write_reference  # noqa: E402

TOLERANCE = 1e-4  # between machines, whose vector units sum in different orders; on one machine the bits are equal
BF16_TOLERANCE = 1e-2  # the same, where some machines multiply in bf16 and others in float32: one unit in the last place
WORLD_SIZES = (1, 2)
SAMPLES_PER_RANK = 80
BATCH_SIZE = 8
EPOCHS = 2
SEED = 1234
VARIANTS = {
    "adamw": {"optimizer": "adamw", "fused": True, "mixed_precision": "no"},
    "adamw, not fused": {"optimizer": "adamw", "fused": False, "mixed_precision": "no"},
    "sgd": {"optimizer": "sgd", "fused": False, "mixed_precision": "no"},
    "adamw, bf16": {"optimizer": "adamw", "fused": True, "mixed_precision": "bf16"},
}


def make_model():
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(4 * 4 * 4, 32),
        nn.ReLU(),
        nn.Dropout(0.1),
        nn.Linear(32, 10),
    )


def make_dataset(samples):
    import torch

    images = (torch.arange(samples * 64) * 7919 % 1009).float() / 1009 - 0.5
    return torch.utils.data.TensorDataset(images.view(samples, 1, 8, 8), torch.arange(samples) * 7 % 10)


def make_optimizer(model, optimizer, fused):
    import torch

    if optimizer == "adamw":
        return torch.optim.AdamW(model.parameters(), lr=1e-2, fused=fused)
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3, fused=fused)


def train(optimizer, fused, mixed_precision):
    import torch
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState
    from accelerate.utils import set_seed

    AcceleratorState._reset_state(False)
    accelerator = Accelerator(mixed_precision=mixed_precision)
    set_seed(SEED)
    model = make_model()
    optimizer = make_optimizer(model, optimizer, fused)
    dataset = make_dataset(SAMPLES_PER_RANK * accelerator.num_processes)
    loader = torch.utils.data.DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    set_seed(SEED, device_specific=True)  # each rank drops other units
    model.train()
    losses = []
    for _ in range(EPOCHS):
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    return {"losses": losses, "parameters": sums_of_parameters(accelerator.unwrap_model(model))}


def work(accelerator):
    return {name: train(**options) for name, options in VARIANTS.items()}


def reference(world_size):
    runs = runs_of(VARIANTS, run_on_ranks(work, world_size))
    for run in runs.values():
        if run["options"]["mixed_precision"] == "bf16":
            run["tolerance"] = BF16_TOLERANCE
    return runs


if __name__ == "__main__":
    world_sizes = {str(world_size): reference(world_size) for world_size in WORLD_SIZES}
    write_reference({"tolerance": TOLERANCE, "world_sizes": world_sizes})
