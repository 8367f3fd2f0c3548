"""The line fit of Accelerate's own test script on 1, 2 and 4 ranks. Usage: make_reference.py OUTPUT.json

y = 2x + 3 with noise, SGD, three epochs, losses of every step and rank. The data are drawn by NumPy, which only Python has, so
they are part of the reference.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import run_on_ranks, write_reference  # noqa: E402

TOLERANCE = 1e-4  # between machines, whose vector units sum in different orders; on one machine the bits are equal
WORLD_SIZES = (1, 2, 4)
BATCH_SIZE = 8
EPOCHS = 3
SEED = 42
VARIANTS = {
    "ordered": {"shuffle": False},
    "shuffled": {"shuffle": True},
    "seedable": {"shuffle": True, "seedable": True},
    "split_batches": {"shuffle": True, "split_batches": True},
    "bf16": {"shuffle": True, "mixed_precision": "bf16"},
}


def train(dataset, shuffle, seedable=False, split_batches=False, mixed_precision="no"):
    import torch
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState
    from accelerate.test_utils.training import RegressionModel
    from accelerate.utils import DataLoaderConfiguration, set_seed
    from torch.utils.data import DataLoader

    AcceleratorState._reset_state(False)
    accelerator = Accelerator(
        mixed_precision=mixed_precision,
        dataloader_config=DataLoaderConfiguration(
            split_batches=split_batches, use_seedable_sampler=seedable, data_seed=SEED if seedable else None
        ),
    )
    generator = torch.Generator()
    batch_size = BATCH_SIZE * (accelerator.num_processes if split_batches else 1)
    loader = DataLoader(dataset, batch_size=batch_size, shuffle=shuffle, generator=generator)
    model = RegressionModel()
    model.first_batch = False  # says nothing about its dtypes
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader, model, optimizer = accelerator.prepare(loader, model, optimizer)
    set_seed(SEED)
    generator.manual_seed(SEED)
    losses = []
    for _ in range(EPOCHS):
        for batch in loader:
            model.zero_grad()
            loss = torch.nn.functional.mse_loss(model(batch["x"]), batch["y"])
            accelerator.backward(loss)
            optimizer.step()
            losses.append(loss.item())
    model = accelerator.unwrap_model(model)
    return {"losses": losses, "a": model.a.item(), "b": model.b.item()}


def work(accelerator):
    from accelerate.test_utils.training import RegressionDataset

    dataset = RegressionDataset(length=BATCH_SIZE * 4 * accelerator.num_processes, seed=SEED)
    return {
        "x": dataset.x.tolist(),
        "y": dataset.y.tolist(),
        "runs": {name: train(dataset, **options) for name, options in VARIANTS.items()},
    }


def reference(world_size):
    ranks = run_on_ranks(work, world_size)
    runs = {}
    for name, options in VARIANTS.items():
        of_ranks = [rank["runs"][name] for rank in ranks]
        assert len({(run["a"], run["b"]) for run in of_ranks}) == 1, "the ranks end with different models"
        losses = [run["losses"] for run in of_ranks]
        runs[name] = {"options": options, "losses": losses, "a": of_ranks[0]["a"], "b": of_ranks[0]["b"]}
    return {"x": ranks[0]["x"], "y": ranks[0]["y"], "runs": runs}


if __name__ == "__main__":
    world_sizes = {str(world_size): reference(world_size) for world_size in WORLD_SIZES}
    write_reference({"tolerance": TOLERANCE, "world_sizes": world_sizes})
