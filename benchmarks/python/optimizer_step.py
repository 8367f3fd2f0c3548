"""One step of AdamW, or of SGD with momentum; bench_optimizer_step is the same in C++."""

import argparse

import torch
from side import Stopwatch, report

SHAPES = {"large": (20, 1 << 20), "small": (150, 3333)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", choices=SHAPES, default="large")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--sgd", action="store_true")
    parser.add_argument("--clip", action="store_true", help="limit the norm of the gradients before")
    parser.add_argument("--tuned", action="store_true", help="the settings an expert would choose")
    options = parser.parse_args()

    count, size = SHAPES[options.shape]
    torch.manual_seed(0)
    parameters = []
    for _ in range(count):
        parameters.append(torch.nn.Parameter(torch.randn(size)))
        parameters[-1].grad = torch.randn(size)
    fused = True if options.tuned else None
    if options.sgd:
        optimizer = torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, fused=fused)
    else:
        optimizer = torch.optim.AdamW(parameters, lr=1e-3, fused=fused)

    def step():
        if options.clip:
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()

    for _ in range(3):
        step()
    stopwatch = Stopwatch()
    for _ in range(options.steps):
        step()
    seconds = stopwatch.seconds()
    report(work=options.steps, losses=[parameter.detach().abs().mean().item() for parameter in parameters], **seconds)


if __name__ == "__main__":
    main()
