"""What gather_for_metrics keeps of data sets of many sizes. Usage: make_reference.py OUTPUT.json

The data are the numbers 0 to n - 1, so that a repeated or lost sample shows. Each case has the loader's length, and per step
the batch of every rank, the gathered values after repeated samples were dropped, and the remainder.
"""

import itertools
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import run_on_ranks, write_reference  # noqa: E402

WORLD_SIZES = (2, 3)
SIZES = (1, 2, 3, 5, 6, 7, 9, 10, 12, 13)
BATCH_SIZES = (1, 2, 3, 6)
LARGE = ((82, 18), (99, 18), (512, 18))  # a size and a batch size that any world size divides; only counts are kept


def run(accelerator, size, batch_size, split, dispatch, drop_last=False):
    import torch
    from torch.utils.data import DataLoader

    accelerator.dataloader_config.split_batches = split
    accelerator.dataloader_config.dispatch_batches = dispatch
    loader = accelerator.prepare(DataLoader(torch.arange(size), batch_size=batch_size, drop_last=drop_last))
    steps = []
    for batch in loader:
        kept = accelerator.gather_for_metrics(batch)
        steps.append({"batch": batch.tolist(), "kept": kept.tolist(), "remainder": accelerator.gradient_state.remainder})
    return {"length": len(loader), "steps": steps}


def objects(accelerator):
    import torch
    from torch.utils.data import DataLoader

    accelerator.dataloader_config.split_batches = accelerator.dataloader_config.dispatch_batches = False
    loader = accelerator.prepare(DataLoader(torch.arange(7), batch_size=2))
    return [accelerator.gather_for_metrics([f"sample {i}" for i in batch.tolist()]) for batch in loader]


def iterable(accelerator, size, batch_size):
    from torch.utils.data import DataLoader, IterableDataset

    class Numbers(IterableDataset):
        def __iter__(self):
            return iter(range(size))

    accelerator.dataloader_config.split_batches = False
    accelerator.dataloader_config.dispatch_batches = None
    loader = accelerator.prepare(DataLoader(Numbers(), batch_size=batch_size))
    return [accelerator.gather_for_metrics(batch).tolist() for batch in loader]


def cases(world_size):
    options = itertools.product(SIZES, BATCH_SIZES, (False, True), (False, True))
    for size, batch_size, split, dispatch in options:
        if split and batch_size % world_size != 0:
            continue
        # Upstream's dispatcher gives a rank an empty slice here, and the gather of unequal shapes then waits for ever.
        if dispatch and size < world_size:
            continue
        yield {"size": size, "batch_size": batch_size, "split": split, "dispatch": dispatch}


def work(accelerator):
    world_size = accelerator.num_processes
    return {
        "cases": [run(accelerator, **case) for case in cases(world_size)],
        "large": [
            sum(len(step["kept"]) for step in run(accelerator, size, batch_size, split, dispatch)["steps"])
            for (size, batch_size), split, dispatch in itertools.product(LARGE, (False, True), (False, True))
        ],
        "drop_last": [
            run(accelerator, 7, 2, False, False, drop_last=True),
            run(accelerator, 10 * world_size + 1, 5, False, False, drop_last=True),
        ],
        "iterable": iterable(accelerator, 30, 4),
        "objects": objects(accelerator),
    }


def merge(ranks):
    """One case of all ranks: batches differ, everything else has to be the same on every rank."""
    merged = {"length": ranks[0]["length"], "steps": []}
    for steps in zip(*(rank["steps"] for rank in ranks), strict=True):
        assert all((step["kept"], step["remainder"]) == (steps[0]["kept"], steps[0]["remainder"]) for step in steps)
        batches = [step["batch"] for step in steps]
        merged["steps"].append({"batches": batches, "kept": steps[0]["kept"], "remainder": steps[0]["remainder"]})
    return merged


def reference(world_size):
    ranks = run_on_ranks(work, world_size)
    for same in ("large", "iterable", "objects"):
        assert all(rank[same] == ranks[0][same] for rank in ranks)
    sizes = itertools.product(LARGE, (False, True), (False, True))
    return {
        "cases": [
            case | merge([rank["cases"][i] for rank in ranks]) for i, case in enumerate(cases(world_size))
        ],
        "large": [
            {"size": size, "batch_size": batch_size, "split": split, "dispatch": dispatch, "kept": kept}
            for ((size, batch_size), split, dispatch), kept in zip(sizes, ranks[0]["large"], strict=True)
        ],
        "drop_last": [
            {"size": size, "batch_size": batch_size} | merge([rank["drop_last"][i] for rank in ranks])
            for i, (size, batch_size) in enumerate([(7, 2), (10 * world_size + 1, 5)])
        ],
        "iterable": {"size": 30, "batch_size": 4, "kept": ranks[0]["iterable"]},
        "objects": ranks[0]["objects"],
    }


if __name__ == "__main__":
    write_reference({str(world_size): reference(world_size) for world_size in WORLD_SIZES})
