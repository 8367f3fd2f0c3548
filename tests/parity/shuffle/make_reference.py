"""Shuffled orders over three epochs. Usage: make_reference.py OUTPUT.json

Each case also notes the number that the global generator gives afterwards, which shows that as many were drawn.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import write_reference  # noqa: E402

import torch  # noqa: E402
from accelerate import PartialState  # noqa: E402
from accelerate.data_loader import SeedableRandomSampler, prepare_data_loader  # noqa: E402
from torch.utils.data import DataLoader, RandomSampler  # noqa: E402

SEEDS = (0, 1, 42, 1234)
SIZES = (1, 5, 10, 17)
EPOCHS = 3


def next_draw():
    return torch.randint(2**31, ()).item()


def batches(loader, epochs=EPOCHS):
    return [[batch.tolist() for batch in loader] for _ in range(epochs)]


def plain(seed, size, with_generator):
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed + 1) if with_generator else None
    loader = DataLoader(range(size), batch_size=2, shuffle=True, generator=generator)
    return dict(seed=seed, n=size, generator=with_generator, epochs=batches(loader), next_draw=next_draw())


def left_early(seed, size):
    """The order of an epoch after one that was left at its second batch."""
    torch.manual_seed(seed)
    loader = DataLoader(range(size), batch_size=2, shuffle=True, generator=torch.Generator().manual_seed(seed))
    for index, _ in enumerate(loader):
        if index == 1:
            break
    return dict(seed=seed, n=size, epochs=batches(loader, 1))


def replacement(seed, size, num_samples):
    torch.manual_seed(seed)
    sampler = RandomSampler(range(size), replacement=True, num_samples=num_samples)
    return dict(seed=seed, n=size, num_samples=num_samples, epochs=[list(sampler) for _ in range(EPOCHS)])


def fewer_or_more(seed, size, num_samples):
    torch.manual_seed(seed)
    sampler = RandomSampler(range(size), num_samples=num_samples)
    return dict(seed=seed, n=size, num_samples=num_samples, epochs=[list(sampler) for _ in range(EPOCHS)])


def seedable(seed, size):
    sampler = SeedableRandomSampler(range(size), data_seed=seed)
    return dict(seed=seed, n=size, epochs=[list(sampler) for _ in range(EPOCHS)])


def prepared(seed, size, ranks, use_seedable):
    case = dict(seed=seed, n=size, num_processes=ranks, seedable=use_seedable, ranks=[], next_draw=[])
    for rank in range(ranks):
        torch.manual_seed(seed)
        loader = prepare_data_loader(
            DataLoader(range(size), batch_size=2, shuffle=True),
            num_processes=ranks,
            process_index=rank,
            use_seedable_sampler=use_seedable,
        )
        case["ranks"].append(batches(loader))
        case["next_draw"].append(next_draw())
    return case


if __name__ == "__main__":
    PartialState(cpu=True)
    grid = [(seed, size) for seed in SEEDS for size in SIZES]
    write_reference(
        {
            "plain": [plain(*case, with_generator) for case in grid for with_generator in (False, True)],
            "left_early": [left_early(*case) for case in grid if case[1] > 4],
            "replacement": [replacement(*case, count) for case in grid for count in (1, 32, 45)],
            "fewer_or_more": [fewer_or_more(*case, count) for case in grid for count in (3, 12)],
            "seedable": [seedable(*case) for case in grid],
            "prepared": [
                prepared(*case, ranks, use_seedable)
                for case in grid
                for ranks in (1, 2, 3)
                for use_seedable in (False, True)
            ],
        }
    )
