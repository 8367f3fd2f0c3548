"""When gradients are synchronised, stepped and dropped under accumulation. Usage: make_reference.py OUTPUT.json

A model of one weight, which starts at 1, multiplies its input, and the loss is the sum: the gradient of a batch is the sum of
its inputs. SGD with a rate of 1 then shows in the weight what every step did.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import run_on_ranks, write_reference  # noqa: E402

# name: number of ranks, number of samples, options of the plugin; the samples are all ones, or 1, 2, 3, ... on several ranks.
TABLES = {
    "every 2 of 5": (1, 5, {"num_steps": 2}),
    "every 2 of 4": (1, 4, {"num_steps": 2}),
    "every 2 of 5, blind to the loader": (1, 5, {"num_steps": 2, "sync_with_dataloader": False}),
    "every 4 of 3": (1, 3, {"num_steps": 4}),
    "every 3 of 7": (1, 7, {"num_steps": 3}),
    "every 1 of 5": (1, 5, {"num_steps": 1}),
    "2 ranks, every 2 of 5": (2, 10, {"num_steps": 2}),
    "2 ranks, every 2 of 5, synchronising each": (2, 10, {"num_steps": 2, "sync_each_batch": True}),
    "2 ranks, every 4 of 5": (2, 10, {"num_steps": 4}),
    "2 ranks, every 1 of 3": (2, 6, {"num_steps": 1}),
    "3 ranks, every 2 of 3": (3, 9, {"num_steps": 2}),
}
EPOCHS = 2
ITEM_STEPS = 3  # batches in a window whose losses are weighted by their items
ITEM_WINDOWS = 2


def table(accelerator, samples, plugin_options):
    import torch
    from accelerate import Accelerator
    from accelerate.state import GradientState
    from accelerate.utils import GradientAccumulationPlugin
    from torch.utils.data import DataLoader

    GradientState._reset_state()
    accelerator = Accelerator(gradient_accumulation_plugin=GradientAccumulationPlugin(**plugin_options))
    ones = accelerator.num_processes == 1
    data = torch.ones(samples, 1) if ones else torch.arange(1, samples + 1, dtype=torch.float32).view(samples, 1)
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.ones_(model.weight)
    weight = model.weight
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
    model, optimizer, scheduler, loader = accelerator.prepare(model, optimizer, scheduler, DataLoader(data, batch_size=1))
    rows = []
    for _ in range(EPOCHS):
        for batch in loader:
            with accelerator.accumulate(model):
                accelerator.backward(model(batch).sum())
                gradient = weight.grad.item()
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            rows.append(
                {
                    "input": batch.item(),
                    "sync_gradients": accelerator.sync_gradients,
                    "step": accelerator.step,
                    "gradient": gradient,
                    "gradient_left": None if weight.grad is None else weight.grad.item(),
                    "last_epoch": scheduler.scheduler.last_epoch,
                    "weight": weight.item(),
                }
            )
    return rows


def tables(accelerator):
    return {
        name: table(accelerator, samples, options)
        for name, (world_size, samples, options) in TABLES.items()
        if world_size == accelerator.num_processes
    }


def outside_accumulate(accelerator):
    """Upstream divides the loss by the number of steps even where no `accumulate` is entered, and then steps."""
    import torch
    from accelerate import Accelerator
    from accelerate.state import GradientState

    GradientState._reset_state()
    accelerator = Accelerator(gradient_accumulation_steps=2)
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.ones_(model.weight)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=1.0))
    accelerator.backward(model(torch.ones(1, 1)).sum())
    gradient = model.weight.grad.item()
    optimizer.step()
    return {"gradient": gradient, "sync_gradients": accelerator.sync_gradients, "weight": model.weight.item()}


def line_fit(accelerator):
    """y = 2x fitted with four batches of two against one batch of eight: the same weight."""
    import torch
    from accelerate import Accelerator
    from accelerate.state import GradientState
    from torch.utils.data import DataLoader

    x = torch.arange(1, 9, dtype=torch.float32).view(8, 1)
    weights = {}
    for name, batch_size, steps in (("accumulated", 2, 4), ("full_batch", 8, 1)):
        GradientState._reset_state()
        accelerator = Accelerator(gradient_accumulation_steps=steps)
        model = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.zeros_(model.weight)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
        loader = DataLoader(torch.utils.data.TensorDataset(x, 2 * x), batch_size=batch_size)
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        for inputs, targets in loader:
            with accelerator.accumulate(model):
                accelerator.backward(torch.nn.functional.mse_loss(model(inputs), targets))
                optimizer.step()
                optimizer.zero_grad()
        weights[name] = model.weight.item()
    return weights


def weighted_by_items(accelerator):
    """Gradients of the mean over all items of a window, as a loop computes them that knows their number in advance."""
    from contextlib import nullcontext

    import torch
    from accelerate import Accelerator
    from accelerate.state import GradientState

    GradientState._reset_state()
    accelerator = Accelerator(gradient_accumulation_steps=ITEM_STEPS)
    rank, world_size = accelerator.process_index, accelerator.num_processes
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.ones_(model.weight)
    weight = model.weight
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.25))
    rows = []
    for window in range(ITEM_WINDOWS):
        first = window * ITEM_STEPS
        batches = [torch.arange(1.0, 2 + (3 * step + 2 * rank) % 5).view(-1, 1) for step in range(first, first + ITEM_STEPS)]
        num_items = accelerator.gather(torch.tensor([sum(len(batch) for batch in batches)])).sum().item()
        for step, batch in enumerate(batches):
            with nullcontext() if step + 1 == ITEM_STEPS else accelerator.no_sync(model):
                loss = model(batch).square().sum() * world_size * ITEM_STEPS / num_items
                accelerator.backward(loss)
        gradient = weight.grad.item()
        optimizer.step()
        optimizer.zero_grad()
        rows.append(
            {
                "batches": [batch.flatten().tolist() for batch in batches],
                "num_items": num_items,
                "gradient": gradient,
                "weight": weight.item(),
            }
        )
    return rows


def work(accelerator):
    results = {"tables": tables(accelerator), "weighted_by_items": weighted_by_items(accelerator)}
    if accelerator.num_processes == 1:
        results["outside_accumulate"] = outside_accumulate(accelerator)
        results["line_fit"] = line_fit(accelerator)
    return results


if __name__ == "__main__":
    results = {world_size: run_on_ranks(work, world_size) for world_size in (1, 2, 3)}
    reference = {
        name: {"world_size": world_size, "samples": samples, "plugin": options, "epochs": EPOCHS}
        | {"ranks": [rank["tables"][name] for rank in results[world_size]]}
        for name, (world_size, samples, options) in TABLES.items()
    }
    write_reference(
        {
            "tables": reference,
            "outside_accumulate": results[1][0]["outside_accumulate"],
            "line_fit": results[1][0]["line_fit"],
            "weighted_by_items": [
                [rank["weighted_by_items"] for rank in ranks] for ranks in results.values()
            ],
        }
    )
