"""What each rank sees of data that rank 0 reads for all, and of iterable data. Usage: make_reference.py OUTPUT.json"""

import itertools
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import run_on_ranks, write_reference  # noqa: E402

SIZES = (7, 9, 10, 24, 30)  # upstream fails where drop_last leaves nothing to dispatch
KINDS = ("map", "iterable")
FLAGS = (False, True)


def cases(world_size):
    for kind, size, split, drop_last, dispatch in itertools.product(KINDS, SIZES, FLAGS, FLAGS, FLAGS):
        if kind == "iterable" or dispatch:
            batch_size = 2 * world_size if split else 2
            yield dict(kind=kind, n=size, batch_size=batch_size, split=split, drop_last=drop_last, dispatch=dispatch)


def walk(accelerator):
    import torch
    from accelerate.data_loader import prepare_data_loader
    from torch.utils.data import DataLoader, IterableDataset

    class Samples(IterableDataset):
        def __init__(self, size):
            self.size = size

        def __iter__(self):
            return iter(torch.arange(self.size))

    results = []
    for case in cases(accelerator.num_processes):
        dataset = torch.arange(case["n"]) if case["kind"] == "map" else Samples(case["n"])
        loader = prepare_data_loader(
            DataLoader(dataset, batch_size=case["batch_size"], drop_last=case["drop_last"]),
            device=accelerator.device,
            put_on_device=True,
            split_batches=case["split"],
            dispatch_batches=case["dispatch"],
        )
        batches, remainder = [], -1
        for batch in loader:
            batches.append(batch.tolist())
            remainder = loader.remainder
        results.append(case | {"batches": batches, "remainder": remainder})
    return results


if __name__ == "__main__":
    write_reference({str(world_size): run_on_ranks(walk, world_size) for world_size in (2, 3)})
