"""How long Python's notebook_launcher takes on two processes until the main one has done its first step.

    notebook_launch.py COUNT    prints "seconds 1.234" for each launch
"""

import os
import pathlib
import socket
import sys
import tempfile
import time

import torch
from accelerate import Accelerator, notebook_launcher


def first_step(report):
    accelerator = Accelerator(cpu=True)
    linear = torch.nn.Linear(8, 1)
    adamw = torch.optim.AdamW(linear.parameters(), lr=1e-2)
    model, optimizer = accelerator.prepare(linear, adamw)
    x = torch.randn(64, 8)
    accelerator.backward(torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)))
    optimizer.step()
    if os.environ["RANK"] == "0":
        pathlib.Path(report).write_text(str(time.time()))


def free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


def main():
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "first_step")
        for _ in range(int(sys.argv[1])):
            begin = time.time()
            notebook_launcher(first_step, (report,), num_processes=2, use_port=str(free_port()))
            print("seconds", float(pathlib.Path(report).read_text()) - begin, flush=True)


if __name__ == "__main__":
    main()
