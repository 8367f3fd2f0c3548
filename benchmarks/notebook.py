"""Measures the C++ kernel for Jupyter beside the stock clang-repl, and its launches beside Python's notebook_launcher.

    notebook.py [--launches N] [--cppyy PYTHON]

Prints the seconds and the CPU seconds of each cell, the memory at the end, and how long two ranks take from the call of
notebook_launcher to the end of their first step. `make notebook-bench` builds and installs what it needs first. cppyy, parts
of which pip compiles for some minutes, is measured too when a Python is named that has it.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ROOT / "build/notebook/share/jupyter"
os.environ["JUPYTER_PATH"] = str(KERNELS)
sys.path.insert(0, str(ROOT / "tests/notebook"))
from kernel_client import KERNEL, Kernel  # noqa: E402

CELLS = {
    "first tensor": "auto a = torch::ones({2, 2}) + 1;",
    "a layer": "torch::nn::Linear linear(4, 1); auto x = torch::randn({16, 4}); auto y = linear(x).sum();",
    "100 steps of SGD": "torch::optim::SGD sgd(linear->parameters(), 0.01); for (int i = 0; i < 100; ++i) "
                        "{ sgd.zero_grad(); linear(x).square().mean().backward(); sgd.step(); }",
    "define a function": "int f(int n) { return n + 1; }",
    "call it": "int b = f(1);",
    "the same tensor again": "auto c = torch::ones({2, 2}) + 1;",
}

FIRST_STEP = """
double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

double first_step() {
  accelerate::Accelerator accelerator;
  torch::nn::Linear linear(8, 1);
  torch::optim::AdamW adamw(linear->parameters(), 1e-2);
  auto [model, optimizer] = accelerator.prepare(linear, adamw);
  auto x = torch::randn({64, 8});
  accelerator.backward(torch::mse_loss(model(x), x.sum(1, true)));
  optimizer.step();
  return now();
}

double seconds_to_first_step() {
  double begin = now();
  return accelerate::notebook_launcher(first_step, {.num_processes = 2})[0] - begin;
}
"""


def processes_of(pid):
    """The process and all of its descendants."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid] + [found for child in children for found in processes_of(int(child))]


def cpu_seconds(pid):
    """What the processes have used, with their children that have ended."""
    stats = [pathlib.Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in processes_of(pid)]
    return sum(int(field) for stat in stats for field in stat[11:15]) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid):
    pages = [int(pathlib.Path(f"/proc/{one}/statm").read_text().split()[1]) for one in processes_of(pid)]
    return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


class OurKernel:
    """Starts when the first cell runs, as in a notebook."""

    name = "this kernel"

    def __enter__(self):
        self.kernel = Kernel().__enter__()
        self.pid = self.kernel.manager.provisioner.pid
        return self

    def __exit__(self, *reason):
        self.kernel.__exit__(*reason)

    def run(self, code):
        outcome = self.kernel.run(code)
        if outcome.status != "ok":
            sys.exit(f"{code}: {outcome.error}")
        return outcome

    def start(self):
        self.run("1;")


def compiler_flags():
    """Those of the kernel's cells, and the directory of torch among them."""
    command = json.loads((KERNELS / "kernels" / KERNEL / "kernel.json").read_text())["argv"]
    flags = command[3 : command.index("-include-pch")]
    return flags, next(pathlib.Path(flag).parent for flag in flags if flag.endswith("/torch/include"))


class Cppyy:
    """Python's cppyy, whose interpreter is Cling, with libtorch loaded and its header included by the first cell."""

    name = "cppyy"
    python = None

    def __enter__(self):
        flags, torch = compiler_flags()
        includes = [directory for word, directory in zip(flags, flags[1:]) if word == "-isystem"]
        program = [self.python, ROOT / "benchmarks/python/cppyy_cells.py", torch, *includes]
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=os.environ | {"STDCXX": "20"})
        self.pid = self.process.pid
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def run(self, code):
        self.process.stdin.write(json.dumps(code) + "\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "done\n":
            sys.exit(f"cppyy ended in: {code}")

    def start(self):
        self.run("#include <torch/torch.h>")


class ClangRepl:
    """The interpreter as Debian's clang-19 has it, with libtorch loaded and its header included by the first cell."""

    name = "clang-repl-19"

    def __enter__(self):
        flags, torch = compiler_flags()
        preloaded = " ".join(str(torch / "lib" / name) for name in ("libc10.so", "libtorch_cpu.so", "libtorch.so"))
        self.process = subprocess.Popen(["clang-repl-19", *(f"-Xcc={flag}" for flag in flags)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=os.environ | {"LD_PRELOAD": preloaded})
        self.pid = self.process.pid
        self.num_cells = 0
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def run(self, code):
        self.num_cells += 1
        done = f"cell {self.num_cells} has run"
        self.process.stdin.write(f'{code}\nputs("{done}"); fflush(stdout);\n')
        self.process.stdin.flush()
        for line in self.process.stdout:
            if done in line:
                return
        sys.exit(f"clang-repl-19 ended in: {code}")

    def start(self):
        self.run("#include <torch/torch.h>")


def measure(session_class):
    """{cell: (seconds, CPU seconds)} and the megabytes at the end."""
    times = {}
    begin = time.monotonic()
    with session_class() as session:
        session.start()
        times["start"] = (time.monotonic() - begin, cpu_seconds(session.pid))
        for name, code in CELLS.items():
            begin, cpu_begin = time.monotonic(), cpu_seconds(session.pid)
            session.run(code)
            times[name] = (time.monotonic() - begin, cpu_seconds(session.pid) - cpu_begin)
        return times, resident_megabytes(session.pid)


def our_launches(count):
    with OurKernel() as session:
        session.run(FIRST_STEP)
        return [float(session.run("seconds_to_first_step()").result["text/plain"]) for _ in range(count)]


def python_launches(count):
    program = [sys.executable, ROOT / "benchmarks/python/notebook_launch.py", str(count)]
    told = subprocess.run(program, capture_output=True, text=True, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    return [float(line.split()[1]) for line in told.stdout.splitlines() if line.startswith("seconds ")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=5)
    parser.add_argument("--cppyy", metavar="PYTHON", help="a Python that has cppyy")
    arguments = parser.parse_args()

    Cppyy.python = arguments.cppyy
    sessions = (OurKernel, ClangRepl, *([Cppyy] if arguments.cppyy else []))
    measured = {session.name: measure(session) for session in sessions}
    print(f"{'seconds (CPU seconds)':<26}" + "".join(f"{name:>20}" for name in measured))
    for cell in ("start", *CELLS):
        columns = (f"{wall:.2f} ({cpu:.2f})" for wall, cpu in (times[cell] for times, _ in measured.values()))
        print(f"{cell:<26}" + "".join(f"{column:>20}" for column in columns))
    print(f"{'resident MB':<26}" + "".join(f"{megabytes:>20.0f}" for _, megabytes in measured.values()))

    ours, theirs = our_launches(arguments.launches), python_launches(arguments.launches)
    print("\nfrom notebook_launcher on two processes to the end of their first step, seconds")
    for name, seconds in (("this kernel", ours), ("Python", theirs)):
        print(f"{name:<26}{statistics.median(seconds):>20.3f}   of {', '.join(f'{one:.3f}' for one in seconds)}")
    print(f"{'ratio':<26}{statistics.median(theirs) / statistics.median(ours):>20.1f}")


if __name__ == "__main__":
    main()
