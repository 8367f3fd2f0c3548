"""Benchmarks of checkpoints: what save_state and load_state take for 500 MB of weights and optimizer state.

In memory (a tmpfs) the figures are those of the two implementations. On the disk they are mostly those of the disk: ours
returns when the checkpoint would survive a power failure, Accelerate when the system has promised to write it some time.
"""

import atexit
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

from rows import BUILD, PROGRAM_MEBIBYTES, Row, milliseconds, peak_mebibytes, program, script

MEMORY = pathlib.Path("/dev/shm")


@functools.cache
def directory(place, side):
    """A directory for one side, removed when all is measured."""
    path = tempfile.mkdtemp(prefix="accelerate_bench_", dir=place)
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return pathlib.Path(path) / side


def ours(*options, place=MEMORY):
    return program("checkpoint", "--directory", directory(place, "ours"), *options)


def peer(*options, place=MEMORY):
    return script("checkpoint", "--directory", directory(place, "peer"), *options)


@functools.cache
def has_saved(save):
    """Runs a command that saves once, so that there is something to load."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run(save, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def loading(side):
    has_saved(tuple(side()))
    return side("--load")


def loading_row(name, unit, value, **more):
    return Row(
        name=name,
        peer_name="Accelerate",
        unit=unit,
        ours=lambda quick: loading(ours),
        peer=lambda quick: loading(peer),
        value=value,
        rehearsed=True,
        **more,
    )


ONCE = ("--times", 1)


def waiting_row(name, *options, **more):
    """How long the loop stands still for a save in the background, and for one that it waits for."""
    return Row(
        name=name,
        peer_name="our save_state that waits, on disk",
        unit="ms",
        ours=lambda quick: ours("--async", *options, *ONCE, place=BUILD),
        peer=lambda quick: ours(*ONCE, place=BUILD),
        value=milliseconds,
        **more,
    )


def saving_memory_row(name, options, **more):
    return Row(
        name=name,
        peer_name="Accelerate, which waits",
        unit="MiB",
        ours=lambda quick: ours(*options, *ONCE),
        peer=lambda quick: peer(*ONCE),
        limit=lambda quick: ours("--bare", *ONCE),
        value=peak_mebibytes,
        **more,
    )


def syncing_row():
    """What it costs that a save waits for the disk: the same save without its calls of fsync."""
    return Row(
        name="save_state of 500 MB, with fsync",
        peer_name="without fsync, both on disk",
        unit="ms",
        ours=lambda quick: ours(place=BUILD),
        peer=lambda quick: ours("--no-sync", place=BUILD),
        value=milliseconds,
    )


def saving_row(name, peer_name, place, peer_options=(), **more):
    return Row(
        name=name,
        peer_name=peer_name,
        unit="ms",
        ours=lambda quick: ours(place=place),
        peer=lambda quick: peer(*peer_options, place=place),
        limit=lambda quick: ours("--bare", place=place),
        value=milliseconds,
        **more,
    )


CHECKPOINT_ROWS = [
    saving_row("save_state of 500 MB, in memory", "Accelerate", MEMORY, target=1),
    saving_row("save_state of 500 MB, on disk", "Accelerate, then synced", BUILD, ("--sync",), target=1),
    saving_row("save_state of 500 MB, on disk, synced", "Accelerate, never synced", BUILD, target=1),
    syncing_row(),
    waiting_row("wait for an asynchronous save_state", target=10),  # after a first one
    waiting_row("wait for the first asynchronous save_state", "--first"),  # which finds the memory for its copies
    saving_memory_row("memory at most, save_state of 500 MB", (), target=1),
    saving_memory_row("memory at most, asynchronous save_state of 500 MB", ("--async",)),  # the state twice
    loading_row("load_state of 500 MB", "ms", milliseconds, target=2),
    loading_row(
        "memory at most, load_state of 500 MB",
        "MiB",
        peak_mebibytes,
        limit=lambda quick: ours("--bare"),
        target=1,
        goal=1.1 * 480 + PROGRAM_MEBIBYTES,
    ),
]
