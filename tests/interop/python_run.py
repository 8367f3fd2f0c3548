"""The Python side of the exchange of checkpoints: the training of interop_test.cpp, with the real Accelerate.

    python_run.py write ROOT OUTPUT.json     trains an epoch, saves to ROOT/<ranks>_<kind>, and tells how it goes on from there
    python_run.py resume ROOT OUTPUT.json    goes on from the folders that C++ has saved in ROOT
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "parity"))
from upstream_ranks import run_on_ranks  # noqa: E402

KINDS = {
    "adamw": {"optimizer": "adamw"},
    "adamw_fused": {"optimizer": "adamw", "fused": True},
    "sgd": {"optimizer": "sgd"},
    "adamw_bin": {"optimizer": "adamw", "safe_serialization": False},
    "plateau": {"optimizer": "sgd", "plateau": True},
}
WORLD_SIZES = (1, 2)
SAMPLES, BATCH_SIZE, SEED = 32, 4, 7
METRIC = 1.0  # never better, so that a plateau goes on from epoch to epoch
SCALER = {"scale": 1024.0, "growth_factor": 3.0, "backoff_factor": 0.25, "growth_interval": 77, "_growth_tracker": 5}
SHARD_SIZE = 110  # bytes: several tensors in one file, and some that are larger


class Counter:
    """An object of a user's own."""

    def __init__(self, count):
        self.count = count

    def state_dict(self):
        return {"count": self.count, "name": "counter", "scale": 0.5}

    def load_state_dict(self, state):
        self.count = state["count"]


class Run:
    def __init__(self, seed, shuffle, optimizer, fused=False, safe_serialization=True, plateau=False):
        import torch
        from accelerate import Accelerator
        from accelerate.state import AcceleratorState
        from accelerate.utils import set_seed

        AcceleratorState._reset_state(False)
        self.accelerator = accelerator = Accelerator()
        self.safe_serialization = safe_serialization
        set_seed(seed)
        model = torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(8, 3)
        )
        if optimizer == "adamw":
            optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, fused=fused or None)
            scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
        else:
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5, gamma=0.5)
        if plateau:
            scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2)
        self.metrics = [METRIC] if plateau else []
        rows = torch.sin(torch.arange(SAMPLES * 4, dtype=torch.float32)).reshape(-1, 4)
        dataset = torch.utils.data.TensorDataset(rows, torch.arange(SAMPLES))
        loader = torch.utils.data.DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=shuffle)
        self.counter = Counter(seed)
        accelerator.register_for_checkpointing(self.counter)
        self.loader, self.model, self.optimizer, self.scheduler = accelerator.prepare(loader, model, optimizer, scheduler)
        set_seed(seed, device_specific=True)

    def train_epoch(self):
        import torch

        self.model.train()
        losses = []
        for rows, numbers in self.loader:
            loss = torch.nn.functional.cross_entropy(self.model(rows), numbers % 3)
            self.accelerator.backward(loss)
            self.optimizer.step()
            self.scheduler.step(*self.metrics)
            self.optimizer.zero_grad()
            losses.append(loss.item())
        return losses


def train_and_save(kind, directory):
    import torch

    run = Run(SEED, shuffle=True, **KINDS[kind])
    run.train_epoch()
    run.accelerator.save_state(directory, safe_serialization=run.safe_serialization)
    run.accelerator.save_model(run.model, directory + "_model", max_shard_size=SHARD_SIZE)
    run.accelerator.wait_for_everyone()
    if run.accelerator.is_main_process:
        scaler = torch.amp.GradScaler("cpu")
        scaler.load_state_dict(SCALER)
        torch.save(scaler.state_dict(), os.path.join(directory, "scaler.pt"))


def resume(kind, directory, shuffle):
    import random

    import numpy
    import torch
    from accelerate.utils import load

    run = Run(SEED + 1, shuffle, **KINDS[kind])
    run.accelerator.load_state(directory)
    draws = [random.random(), numpy.random.random()]
    scaler_file = os.path.join(directory, "scaler.pt")
    scaler = torch.amp.GradScaler("cpu")
    if os.path.exists(scaler_file):
        scaler.load_state_dict(load(scaler_file))
    return {
        "losses": run.train_epoch(),
        "count": run.counter.count,
        "learning_rate": run.scheduler.get_last_lr()[0],
        "draws": draws,
        "scaler": scaler.state_dict(),
    }


def work(accelerator, command, root):
    """All kinds in one job: starting processes takes longer than what they do."""
    runs = {}
    for kind in KINDS:
        name = f"{accelerator.num_processes}_{kind}"
        directory = os.path.join(root, name)
        if command == "write":
            train_and_save(kind, directory)
            accelerator.wait_for_everyone()
        runs[name] = resume(kind, directory, shuffle=command == "write")
    return runs


def first_draws(seed):
    """What Python's own generators give after they were seeded."""
    import random

    import numpy

    return [random.Random(seed).random(), numpy.random.RandomState(seed).random()]


def main(command, root, output):
    runs = {}
    for world_size in WORLD_SIZES:
        ranks = run_on_ranks(work, world_size, command, root)
        runs.update({name: [rank[name] for rank in ranks] for name in ranks[0]})
    draws = [first_draws(SEED + rank) for rank in range(max(WORLD_SIZES))]
    with open(output, "w") as file:
        json.dump({"runs": runs, "first_draws": draws, "scaler": SCALER}, file)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("write", "resume"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
