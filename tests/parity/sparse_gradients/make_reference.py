"""A classifier of bags of words whose table of words has sparse gradients, trained on 2 ranks. Usage: make_reference.py OUTPUT.json

The ranks see different words, so that each of them has gradients for rows that the other has none for.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import run_on_ranks, runs_of, sums_of_parameters, write_reference  # noqa: E402

TOLERANCE = 1e-4  # between machines, whose vector units sum in different orders; on one machine the bits are equal
WORLD_SIZE = 2
SAMPLES_PER_RANK = 40
WORDS = 50
WORDS_PER_SAMPLE = 3
BATCH_SIZE = 4
SEED = 1234
VARIANTS = {
    "sgd": {"optimizer": "sgd", "accumulation_steps": 1},
    "sgd, accumulating": {"optimizer": "sgd", "accumulation_steps": 2},
    "adagrad": {"optimizer": "adagrad", "accumulation_steps": 1},
}


def train(optimizer, accumulation_steps):
    import torch
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState
    from accelerate.utils import set_seed
    from torch import nn

    AcceleratorState._reset_state(False)
    accelerator = Accelerator(gradient_accumulation_steps=accumulation_steps)
    set_seed(SEED)
    model = nn.Sequential(nn.Embedding(WORDS, 8, sparse=True), nn.Flatten(), nn.Linear(8 * WORDS_PER_SAMPLE, 4))
    if optimizer == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    else:
        optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    samples = SAMPLES_PER_RANK * accelerator.num_processes
    words = torch.arange(samples * WORDS_PER_SAMPLE).square() * 7 % WORDS
    dataset = torch.utils.data.TensorDataset(words.view(samples, WORDS_PER_SAMPLE), torch.arange(samples) * 7 % 4)
    loader = torch.utils.data.DataLoader(dataset, batch_size=BATCH_SIZE)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    losses = []
    for samples, labels in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.cross_entropy(model(samples), labels)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    return {"losses": losses, "parameters": sums_of_parameters(accelerator.unwrap_model(model))}


def work(accelerator):
    return {name: train(**options) for name, options in VARIANTS.items()}


if __name__ == "__main__":
    runs = runs_of(VARIANTS, run_on_ranks(work, WORLD_SIZE))
    write_reference({"tolerance": TOLERANCE, "runs": runs})
