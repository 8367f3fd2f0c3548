"""Which indices and samples each rank sees, for a grid of sizes. Usage: make_reference.py OUTPUT.json"""

import itertools
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import write_reference  # noqa: E402

from accelerate.data_loader import BatchSamplerShard, IterableDatasetShard  # noqa: E402
from torch.utils.data import BatchSampler, IterableDataset  # noqa: E402

SIZES = range(14)
FLAGS = (False, True)
VARYING = [
    [[0, 1, 2], [3, 4], [5, 6, 7, 8], [9, 10, 11], [12, 13]],
    [[0], [1, 2], [3], [4, 5, 6], [7], [8], [9, 10]],
    [[0, 1, 2]],
    [],
]


class Samples(IterableDataset):
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __iter__(self):
        return iter(range(self.size))


def with_shards(case, shards, name):
    """Adds what every rank sees, or that upstream refuses the case."""
    try:
        ranks = [shards(rank) for rank in range(case["num_processes"])]
    except ValueError:
        return case | {"error": True}
    return case | {name: [[item for item in rank] for rank in ranks], "len": [len(rank) for rank in ranks]}


def batch_sampler_shards():
    for size, batch_size, ranks, drop_last, split, even in itertools.product(
        SIZES, (1, 2, 3, 4), (1, 2, 3, 4), FLAGS, FLAGS, FLAGS
    ):
        case = dict(n=size, batch_size=batch_size, num_processes=ranks)
        case |= dict(drop_last=drop_last, split_batches=split, even_batches=even)
        batches = BatchSampler(range(size), batch_size, drop_last)
        yield with_shards(case, lambda rank: BatchSamplerShard(batches, ranks, rank, split, even), "batches")


def varying_batch_shards():
    for batches, ranks, even in itertools.product(VARYING, (1, 2, 3, 4), FLAGS):
        case = dict(all_batches=batches, num_processes=ranks, even_batches=even)
        yield with_shards(case, lambda rank: BatchSamplerShard(batches, ranks, rank, False, even), "batches")


def iterable_dataset_shards():
    for size, batch_size, ranks, drop_last, split in itertools.product(SIZES, (1, 2, 4), (1, 2, 4), FLAGS, FLAGS):
        case = dict(n=size, batch_size=batch_size, num_processes=ranks, drop_last=drop_last, split_batches=split)
        yield with_shards(
            case,
            lambda rank: IterableDatasetShard(Samples(size), batch_size, drop_last, ranks, rank, split),
            "samples",
        )


if __name__ == "__main__":
    write_reference(
        {
            "batch_sampler_shard": list(batch_sampler_shards()),
            "varying_batch_shard": list(varying_batch_shards()),
            "iterable_dataset_shard": list(iterable_dataset_shards()),
        }
    )
