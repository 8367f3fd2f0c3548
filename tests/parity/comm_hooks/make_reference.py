"""A small classifier trained through torch's communication hooks on 2 ranks. Usage: make_reference.py OUTPUT.json

Layers are large enough that PowerSGD compresses some of them. All gradients are in one bucket: with several, torch's PowerSGD
hangs over gloo, whose threads wait for each other inside its callbacks. The sums of the ranks have two terms,
so their order does not matter.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from upstream_ranks import run_on_ranks, runs_of, sums_of_parameters, write_reference  # noqa: E402

TOLERANCE = 1e-3  # between machines, whose vector units sum in different orders; on one machine the bits are equal
STEPS = 20
BATCH_SIZE = 8
SEED = 1234
POWER = {"comm_hook": "power_sgd", "comm_wrapper": "no"}
BATCHED = {"comm_hook": "batched_power_sgd", "comm_wrapper": "no"}
VARIANTS = {
    "no hook": {"comm_hook": "no", "comm_wrapper": "no", "state": {}},
    "fp16": {"comm_hook": "fp16", "comm_wrapper": "no", "state": {}},
    "bf16": {"comm_hook": "bf16", "comm_wrapper": "no", "state": {}},
    "bf16 in fp16": {"comm_hook": "bf16", "comm_wrapper": "fp16", "state": {}},
    "power_sgd": POWER | {"state": {"start_powerSGD_iter": 3}},
    "power_sgd, rank 2": POWER | {"state": {"start_powerSGD_iter": 2, "matrix_approximation_rank": 2}},
    "power_sgd, rank 4": POWER
    | {"state": {"start_powerSGD_iter": 5, "matrix_approximation_rank": 4, "min_compression_rate": 1.5}},
    "power_sgd, batched by shape": POWER
    | {"state": {"start_powerSGD_iter": 3, "batch_tensors_with_same_shape": True, "random_seed": 7}},
    "power_sgd without memory": POWER
    | {"state": {"start_powerSGD_iter": 1, "use_error_feedback": False, "warm_start": False}},
    "power_sgd with epsilon": POWER | {"state": {"start_powerSGD_iter": 3, "orthogonalization_epsilon": 1e-8}},
    "power_sgd in fp16": {"comm_hook": "power_sgd", "comm_wrapper": "fp16", "state": {"start_powerSGD_iter": 3}},
    "power_sgd in bf16": {"comm_hook": "power_sgd", "comm_wrapper": "bf16", "state": {"start_powerSGD_iter": 3}},
    "batched_power_sgd": BATCHED | {"state": {"start_powerSGD_iter": 3}},
    "batched_power_sgd, rank 3": BATCHED | {"state": {"start_powerSGD_iter": 3, "matrix_approximation_rank": 3}},
    "batched_power_sgd without memory": BATCHED
    | {"state": {"start_powerSGD_iter": 1, "use_error_feedback": False, "warm_start": False}},
}


def let_hooks_run():
    """torch 2.13's batched hook gives its one matrix to a function that asserts that it gets a batch of them; and DDP takes
    the bf16 hooks, by their names, on GPUs only."""
    import torch
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

    torch.nn.parallel.DistributedDataParallel._check_comm_hook = lambda self, hook: None
    of_batch = powerSGD_hook._orthogonalize
    if not hasattr(of_batch, "takes_one"):

        def orthogonalize(matrices, epsilon=0):
            of_batch(matrices if matrices.dim() == 3 else matrices.unsqueeze(0), epsilon)

        orthogonalize.takes_one = True
        powerSGD_hook._orthogonalize = orthogonalize


def make_model():
    from torch import nn

    return nn.Sequential(
        nn.Linear(20, 48),
        nn.Tanh(),
        nn.Linear(48, 48),
        nn.Tanh(),
        nn.Linear(48, 48),
        nn.Tanh(),
        nn.Linear(48, 10),
    )


def train(comm_hook, comm_wrapper, state):
    import torch
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState
    from accelerate.utils import DDPCommunicationHookType, DistributedDataParallelKwargs, set_seed

    let_hooks_run()
    AcceleratorState._reset_state(False)
    kwargs = DistributedDataParallelKwargs(
        comm_hook=DDPCommunicationHookType(comm_hook),
        comm_wrapper=DDPCommunicationHookType(comm_wrapper),
        comm_state_option=state,
    )
    accelerator = Accelerator(kwargs_handlers=[kwargs])
    set_seed(SEED)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model, optimizer = accelerator.prepare(model, optimizer)
    samples = BATCH_SIZE * accelerator.num_processes
    losses = []
    for step in range(STEPS):
        inputs = (torch.arange(samples * 20) * 7919 % 1009 + step * 13).remainder(1009).float().view(samples, 20)
        mine = slice(BATCH_SIZE * accelerator.process_index, BATCH_SIZE * (accelerator.process_index + 1))
        labels = torch.arange(samples) * 7 % 10
        loss = torch.nn.functional.cross_entropy(model(inputs[mine] / 1009 - 0.5), labels[mine])
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return {"losses": losses, "parameters": sums_of_parameters(accelerator.unwrap_model(model))}


def work(accelerator):
    return {name: train(**options) for name, options in VARIANTS.items()}


if __name__ == "__main__":
    write_reference({"tolerance": TOLERANCE, "runs": runs_of(VARIANTS, run_on_ranks(work, 2))})
