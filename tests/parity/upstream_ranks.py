"""Runs a function on connected ranks of the real Accelerate, each a process of its own, and brings back what each returns.

    def work(accelerator): return accelerator.gather(...).tolist()
    if __name__ == "__main__":
        write_reference({"world_sizes": {n: run_on_ranks(work, n) for n in (1, 2)}})

`work` lives at the top level of the calling script, because the ranks import it by name. Ranks compute with one thread, on
the CPU, and talk over loopback.
"""

import json
import multiprocessing
import os
import socket
import sys
import traceback

TIMEOUT_SECONDS = 250

# The ranks are forked by a server that has imported the packages and computed nothing, so that N ranks pay for one import.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["torch", "accelerate"])


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _rank(work, rank, world_size, port, arguments, answer):
    try:
        os.environ.update(ACCELERATE_USE_CPU="1", OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo")
        if world_size > 1:
            os.environ.update(
                RANK=str(rank),
                LOCAL_RANK=str(rank),
                WORLD_SIZE=str(world_size),
                LOCAL_WORLD_SIZE=str(world_size),
                MASTER_ADDR="127.0.0.1",
                MASTER_PORT=str(port),
            )
        import torch
        from accelerate import Accelerator

        torch.set_num_threads(1)
        accelerator = Accelerator()
        assert accelerator.num_processes == world_size and accelerator.process_index == rank
        result = work(accelerator, *arguments)
        accelerator.wait_for_everyone()
        answer.send(result)
        accelerator.end_training()
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def run_on_ranks(work, world_size, *arguments):
    """`work(accelerator, *arguments)` of every rank, in rank order. Ends the script with an error when one fails."""
    port = _free_port()
    ranks = []
    for rank in range(world_size):
        receiver, sender = _processes.Pipe(duplex=False)
        process = _processes.Process(target=_rank, args=(work, rank, world_size, port, arguments, sender), daemon=True)
        process.start()
        sender.close()
        ranks.append((process, receiver))
    results = []
    for rank, (process, receiver) in enumerate(ranks):
        try:
            if not receiver.poll(TIMEOUT_SECONDS):
                sys.exit(f"rank {rank} of {world_size} gave nothing within {TIMEOUT_SECONDS} s")
            results.append(receiver.recv())
        except EOFError:
            sys.exit(f"rank {rank} of {world_size} failed")
    for process, _ in ranks:
        process.join(TIMEOUT_SECONDS)
    return results


def sums_of_parameters(model):
    """Two numbers that tell a parameter from another, in double precision, which keeps every bit of theirs."""
    return {
        name: {
            "sum": parameter.detach().double().sum().item(),
            "sum_of_squares": parameter.detach().double().square().sum().item(),
        }
        for name, parameter in model.named_parameters()
    }


def runs_of(variants, ranks):
    """For each variant of a training its options, the losses of all ranks and the parameters, which they have to share.

    `ranks` has, for each rank, what the variants gave: {"losses": ..., "parameters": ...}.
    """
    runs = {}
    for name, options in variants.items():
        parameters = ranks[0][name]["parameters"]
        assert all(rank[name]["parameters"] == parameters for rank in ranks), "the ranks end with different models"
        runs[name] = {
            "options": options,
            "losses": [rank[name]["losses"] for rank in ranks],
            "parameters": parameters,
        }
    return runs


def write_reference(reference):
    """Writes `reference` to the file named on the command line. Numbers are printed so that they read back exactly."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {os.path.basename(sys.argv[0])} OUTPUT.json")
    with open(sys.argv[1], "w") as file:
        file.write("{\n")
        parts = (f" {json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in reference.items())
        file.write(",\n".join(parts))
        file.write("\n}\n")
