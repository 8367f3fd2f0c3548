"""Benchmarks of the optimizer's step: 21 million weights in 20 tensors, and half a million in 150."""

from rows import Row, figure, microseconds_per_step, program, script

SHAPES = {"large": "21M weights in 20 tensors", "small": "0.5M weights in 150 tensors"}


def step_row(shape, peer_name, peer, *options, optimizer="AdamW", **more):
    """`peer` makes the other side's command of the arguments that both have."""

    def arguments(quick):
        return "--shape", shape, "--steps", 5 if quick else 40, *options

    return Row(
        name=f"{optimizer} step, {SHAPES[shape]}",
        peer_name=peer_name,
        unit="us/step",
        ours=lambda quick: program("optimizer_step", *arguments(quick)),
        peer=lambda quick: peer(*arguments(quick)),
        value=microseconds_per_step,
        **more,
    )


def copy_of(shape):
    """The limit of AdamW: as much memory read and written as a step has to."""
    return lambda quick: program("optimizer_step", "--shape", shape, "--steps", 5 if quick else 40, "--copy")


def libtorch(*arguments):
    return program("optimizer_step", *arguments, "--plain")


def python(*arguments):
    return script("optimizer_step", *arguments)


def python_fused(*arguments):
    return script("optimizer_step", *arguments, "--tuned")


def sharing_row(name, unit, value, environment=(), **more):
    """AdamW of 21M weights behind clip_grad_norm_: two ranks that share the step against two that each do all of it."""

    def arguments(quick):
        return "--clip", "--steps", 5 if quick else 40

    return Row(
        name=name,
        peer_name="each rank all of it (C++)",
        unit=unit,
        ours=lambda quick: ["env", *environment, *program("optimizer_step", *arguments(quick), "--shared")],
        peer=lambda quick: ["env", *environment, *program("optimizer_step", *arguments(quick))],
        value=value,
        num_processes=2,
        **more,
    )


def clipped_step_row():
    def arguments(quick):
        return "--clip", "--steps", 5 if quick else 40

    return Row(
        name="clipping and AdamW, 21M weights",
        peer_name="torch.optim.AdamW",
        unit="CPU ms",
        ours=lambda quick: program("optimizer_step", *arguments(quick)),
        peer=lambda quick: script("optimizer_step", *arguments(quick)),
        value=lambda run: run.cpu / run.work * 1e3,
        target=3.5,
    )


OPTIMIZER_ROWS = [
    *(step_row(shape, "torch::optim::AdamW (C++)", libtorch, target=3, limit=copy_of(shape)) for shape in SHAPES),
    step_row("large", "torch.optim.AdamW, fused", python_fused, target=1),
    step_row("small", "torch.optim.AdamW", python, target=4),
    step_row("small", "torch.optim.AdamW, fused", python_fused, target=1),
    step_row("large", "torch.optim.SGD", python, "--sgd", optimizer="SGD"),
    step_row("large", "torch.optim.SGD, fused", python_fused, "--sgd", optimizer="SGD", target=1),
    clipped_step_row(),
    sharing_row(
        "clipping and AdamW, 21M weights, shared by 2",
        "CPU ms",
        lambda run: run.cpu / 2 / run.work * 1e3,
        target=1.5,
    ),
    sharing_row(
        "AdamW's state of 21M weights, shared by 2",
        "MiB per rank",
        figure("state_bytes", 2**-20),
        environment=("ACCELERATE_TENSOR_MEMORY=system",),  # our pool would take the state from memory that it has left
        target=1.95,  # half, but for what else the first steps touch
    ),
]
