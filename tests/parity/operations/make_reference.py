"""What Accelerate's collectives give on 1, 2 and 3 ranks. Usage: make_reference.py OUTPUT.json

Each rank begins with its part of 1, 2, 3, ...: with P ranks, rank r has r * P + 1 to r * P + P.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import run_on_ranks, write_reference  # noqa: E402

WORLD_SIZES = (1, 2, 3)
SPLIT_SIZES = (1, 2, 3, 4, 5, 7, 8, 17)


def collectives(accelerator):
    import torch
    from accelerate.utils import broadcast, broadcast_object_list, gather_object

    world_size, rank = accelerator.num_processes, accelerator.process_index
    mine = torch.arange(world_size, dtype=torch.float32) + 1 + world_size * rank
    table = torch.arange(12, dtype=torch.float32).view(3, 4).t() + 100 * rank
    longer = torch.arange(world_size + (rank == 0)) + 1
    column = torch.full((2, 1 + rank), float(rank + 1))
    last = world_size - 1

    results = {
        "gather": accelerator.gather(mine).tolist(),
        "gather_transposed": accelerator.gather(table).tolist(),
        "gather_integers": accelerator.gather(torch.tensor([[rank, -rank]])).tolist(),
        "gather_nested": {
            name: tensor.tolist() for name, tensor in accelerator.gather({"x": mine, "y": mine * 2}).items()
        },
        "gather_object": gather_object([rank]),
        "gather_object_uneven": gather_object([f"rank {rank} item {i}" for i in range(rank + 1)]),
        "broadcast": broadcast(mine.clone()).tolist(),
        "broadcast_from_last": broadcast(mine.clone(), from_process=last).tolist(),
        "broadcast_object_list": broadcast_object_list([f"from {rank}", f"world of {world_size}"], from_process=last),
        "pad": accelerator.pad_across_processes(longer).tolist(),
        "pad_index": accelerator.pad_across_processes(longer, pad_index=-1).tolist(),
        "pad_first": accelerator.pad_across_processes(longer, pad_index=-1, pad_first=True).tolist(),
        "pad_dim_1": accelerator.pad_across_processes(column, dim=1).tolist(),
        "pad_last_dim": accelerator.pad_across_processes(column, dim=-1).tolist(),
        "pad_missing_dim": accelerator.pad_across_processes(mine, dim=3).tolist(),
        "reduce_sum": accelerator.reduce(mine, "sum").tolist(),
        "reduce_mean": accelerator.reduce(mine, "mean").tolist(),
        "reduce_max": accelerator.reduce(mine, "max").tolist(),
        "reduce_sum_integers": accelerator.reduce(torch.tensor([rank + 1, 10]), "sum").tolist(),
    }
    # With one process upstream leaves a scalar a scalar; here a scalar is one row on any number of ranks.
    if world_size > 1:
        results["gather_scalar"] = accelerator.gather(torch.tensor(float(rank))).tolist()

    triggers = [accelerator.check_trigger()]
    if rank == last:
        accelerator.set_trigger()
    results["trigger"] = triggers + [accelerator.check_trigger(), accelerator.check_trigger()]
    results["split"] = [split(accelerator, size, padding) for size in SPLIT_SIZES for padding in (False, True)]
    return results


def split(accelerator, size, padding):
    import torch

    inputs = {"numbers": list(range(size)), "tensor": torch.arange(2 * size).view(size, 2)}
    with accelerator.split_between_processes(inputs["numbers"], apply_padding=padding) as mine:
        numbers = list(mine)
    with accelerator.split_between_processes(inputs["tensor"], apply_padding=padding) as mine:
        tensor = mine.tolist()
    with accelerator.split_between_processes(inputs, apply_padding=padding) as mine:
        both = {"numbers": list(mine["numbers"]), "tensor": mine["tensor"].tolist()}
    return {"size": size, "padding": padding, "numbers": numbers, "tensor": tensor, "both": both}


if __name__ == "__main__":
    write_reference({str(world_size): run_on_ranks(collectives, world_size) for world_size in WORLD_SIZES})
