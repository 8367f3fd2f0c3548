"""Weighted and subset samplers and random splits. Usage: make_reference.py OUTPUT.json

Each case also notes the number that the global generator gives afterwards, which shows that as many were drawn.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import write_reference  # noqa: E402

import torch  # noqa: E402
from accelerate import PartialState  # noqa: E402
from accelerate.data_loader import prepare_data_loader, skip_first_batches  # noqa: E402
from torch.utils.data import (  # noqa: E402
    ConcatDataset,
    DataLoader,
    SubsetRandomSampler,
    WeightedRandomSampler,
    random_split,
)

SEEDS = (0, 1, 42, 1234)
WEIGHTS = {
    "few": [0.1, 0.9, 0.4, 0.7, 3.0, 0.6],
    "with_zeros": [0.0, 1.0, 0.0, 2.5, 1.5, 0.0, 4.0],
    "many": [1.0 + (i * 37 % 11) / 3 for i in range(50)],
}
SUBSETS = {"odd": [1, 3, 5, 7, 9, 11, 13], "mixed": [8, 2, 2, 17, 0], "one": [4], "none": []}
SPLITS = (
    (10, [3, 7]),
    (10, [0.3, 0.7]),
    (17, [0.5, 0.5]),
    (17, [0.6, 0.3, 0.1]),
    (30, [0.3, 0.3, 0.4]),
    (11, [0.25, 0.25, 0.25, 0.25]),
    (5, [5]),
    (1, [0.9, 0.1]),
    (100, [0.7, 0.2, 0.1]),
)
EPOCHS = 3


def next_draw():
    return torch.randint(2**31, ()).item()


def seeded(seed, with_generator):
    torch.manual_seed(seed)
    return torch.Generator().manual_seed(seed + 1) if with_generator else None


def weighted(seed, name, num_samples, replacement, with_generator):
    generator = seeded(seed, with_generator)
    sampler = WeightedRandomSampler(WEIGHTS[name], num_samples, replacement, generator)
    return dict(
        seed=seed,
        weights=WEIGHTS[name],
        num_samples=num_samples,
        replacement=replacement,
        generator=with_generator,
        epochs=[list(sampler) for _ in range(EPOCHS)],
        next_draw=next_draw(),
    )


def subset(seed, name, with_generator):
    generator = seeded(seed, with_generator)
    sampler = SubsetRandomSampler(SUBSETS[name], generator)
    epochs = [list(sampler) for _ in range(EPOCHS)]
    return dict(seed=seed, indices=SUBSETS[name], generator=with_generator, epochs=epochs, next_draw=next_draw())


def split(seed, size, lengths, with_generator):
    generator = seeded(seed, with_generator)
    parts = random_split(range(size), lengths, **({"generator": generator} if with_generator else {}))
    return dict(
        seed=seed,
        n=size,
        lengths=lengths,
        generator=with_generator,
        parts=[list(part.indices) for part in parts],
        next_draw=next_draw(),
    )


def make_sampler(kind):
    if kind == "weighted":
        return WeightedRandomSampler(WEIGHTS["many"], 21)
    return SubsetRandomSampler(list(range(3, 50, 3)))


def batches(loader, epochs=EPOCHS):
    return [[batch.tolist() for batch in loader] for _ in range(epochs)]


def plain(seed, kind):
    torch.manual_seed(seed)
    loader = DataLoader(range(50), batch_size=4, sampler=make_sampler(kind))
    return dict(seed=seed, kind=kind, epochs=batches(loader), next_draw=next_draw())


def prepared(seed, kind, ranks, use_seedable):
    """What each rank sees, and then what is left of an epoch whose first batch is skipped."""
    case = dict(seed=seed, kind=kind, num_processes=ranks, seedable=use_seedable, ranks=[], rest=[], next_draw=[])
    for rank in range(ranks):
        torch.manual_seed(seed)
        loader = prepare_data_loader(
            DataLoader(range(50), batch_size=4, sampler=make_sampler(kind)),
            num_processes=ranks,
            process_index=rank,
            use_seedable_sampler=use_seedable,
        )
        case["ranks"].append(batches(loader))
        case["rest"].append(batches(skip_first_batches(loader, 1), 1)[0])
        case["next_draw"].append(next_draw())
    return case


def concatenated(seed):
    torch.manual_seed(seed)
    loader = DataLoader(ConcatDataset([range(5), range(100, 103), range(20, 31)]), batch_size=4, shuffle=True)
    return dict(seed=seed, epochs=batches(loader))


if __name__ == "__main__":
    PartialState(cpu=True)
    both = (False, True)
    write_reference(
        {
            "weighted": [
                weighted(seed, name, num_samples, replacement, with_generator)
                for seed in SEEDS
                for name, counts in (("few", (1, 5)), ("with_zeros", (3, 4)), ("many", (21, 50)))
                for num_samples in counts
                for replacement in both
                for with_generator in both
            ]
            + [weighted(seed, "few", 40, True, False) for seed in SEEDS],
            "subset": [subset(seed, name, generator) for seed in SEEDS for name in SUBSETS for generator in both],
            "split": [split(seed, *case, generator) for seed in SEEDS for case in SPLITS for generator in both],
            "plain": [plain(seed, kind) for seed in SEEDS for kind in ("weighted", "subset")],
            "prepared": [
                prepared(seed, kind, ranks, use_seedable)
                for seed in SEEDS
                for kind in ("weighted", "subset")
                for ranks in (1, 2, 3)
                for use_seedable in both
            ],
            "concatenated": [concatenated(seed) for seed in SEEDS],
        }
    )
