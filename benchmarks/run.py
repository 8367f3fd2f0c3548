"""Measures the library against Python's Accelerate on the same libtorch, in one run.

    run.py [--quick] [--only NAME]... [--pairs N]

Prints a table and writes build/bench.json: a list of objects with name, ours, peer, peer_name, limit, unit, ratio (how
many times better than the peer; above 1 is better), target for the ratio, goal for ours and of_limit for the share of
the limit, beside the interval of the ratio, the ratio of CPU times, what else the sides measure and the conditions of the
measurement. A benchmark whose two sides compute different things, or whose files cannot be had, gets no number and fails
the run; the others go on.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

from allreduce_rows import ALLREDUCE_ROWS
from checkpoint_rows import CHECKPOINT_ROWS
from command_rows import COMMAND_ROWS
from fault_rows import FAULT_ROWS
from loader_rows import LOADER_ROWS
from loading_rows import LOADING_ROWS
from measure import BenchmarkFailure, Side, disturbed, measure_limit, measure_pairs, median_with_interval
from network_rows import NETWORK_ROWS
from optimizer_rows import OPTIMIZER_ROWS
from rows import BUILD
from step_rows import STEP_ROWS
from text_rows import TEXT_ROWS
from training_rows import TRAINING_ROWS

ALL_ROWS = [
    *STEP_ROWS,
    *TRAINING_ROWS,
    *ALLREDUCE_ROWS,
    *NETWORK_ROWS,
    *OPTIMIZER_ROWS,
    *LOADER_ROWS,
    *TEXT_ROWS,
    *LOADING_ROWS,
    *FAULT_ROWS,
    *CHECKPOINT_ROWS,
    *COMMAND_ROWS,
]


def read_first_line(path):
    try:
        return pathlib.Path(path).read_text().splitlines()[0].strip()
    except (OSError, IndexError):
        return None


def first_processor():
    """What /proc/cpuinfo says of the first processor; all are alike."""
    with open("/proc/cpuinfo") as file:
        lines = file.read().split("\n\n")[0].splitlines()
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def cache_sizes():
    """The second and third level of the first processor's caches."""
    caches = pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")
    sizes = {f"L{read_first_line(cache / 'level')}": read_first_line(cache / "size") for cache in caches}
    return {level: sizes.get(level) for level in ("L2", "L3")}


def conditions():
    processor = first_processor()
    flags = processor.get("flags", "").split()
    return {
        "cpu": f"{os.cpu_count()} x {processor.get('model name', platform.machine())}",
        "cpu_family": processor.get("cpu family"),
        "cpu_model": processor.get("model"),
        "vectors": [flag for flag in flags if flag == "avx2" or flag.startswith("avx512")],
        "caches": cache_sizes(),
        "governor": read_first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "kernel": platform.release(),
        "loadavg": list(os.getloadavg()),
        "pressure": read_first_line("/proc/pressure/cpu"),
        "versions": {name: importlib.metadata.version(name) for name in ("torch", "accelerate")}
        | {"python": platform.python_version()},
    }


def limit_of(row, quick):
    """The best of several runs, because nothing can be better than the limit."""
    if row.limit is None:
        return None
    values = map(row.value, measure_limit(Side(tuple(row.limit(quick)), row.num_processes)))
    return max(values) if row.higher_is_better else min(values)


def pairs_of(row, pairs):
    """As many as asked for, but fewer where they take minutes, and where nothing has to be reached."""
    most = row.most_pairs or pairs
    return min(pairs, most) if row.has_aim() else min(pairs, most, 3)


def figures_of(runs):
    """The medians of what a side measures besides."""
    return {name: statistics.median(run.figures[name] for run in runs) for name in runs[0].figures}


def has_reached(row, ratio, median, limit_share):
    return (
        (row.target is None or ratio >= row.target)
        and (row.goal is None or row.better(median, row.goal) >= 1)
        and (row.of_limit is None or limit_share >= row.of_limit)
    )


def measure(row, pairs, quick):
    """The object of `row` for bench.json."""
    before = conditions()
    wanted = {"target": row.target, "goal": row.goal, "of_limit": row.of_limit}
    result = {"name": row.name, "peer_name": row.peer_name, "unit": row.unit} | wanted
    empty = {"ours": None, "peer": None, "limit": None, "ratio": None}
    try:
        ours = Side(tuple(row.ours(quick)), row.num_processes, row.rehearsed)
        peer = Side(tuple(row.peer(quick)), row.peer_processes or row.num_processes, row.rehearsed)
        measured = measure_pairs(ours, peer, pairs_of(row, pairs), row.same_work)
        limit = limit_of(row, quick)
    except (BenchmarkFailure, subprocess.CalledProcessError, OSError) as failure:
        return result | empty | {"failure": str(failure), "conditions": before}
    mine, theirs = zip(*measured)
    ratios = [row.better(row.value(our_run), row.value(peer_run)) for our_run, peer_run in measured]
    cpu_ratios = [(peer_run.cpu / peer_run.work) / (our_run.cpu / our_run.work) for our_run, peer_run in measured]
    ratio, low, high = median_with_interval(ratios)
    median = statistics.median(map(row.value, mine))
    limit_share = None if limit is None else row.better(median, limit)
    return result | {
        "ours": median,
        "peer": statistics.median(map(row.value, theirs)),
        "limit": limit,
        "limit_share": limit_share,
        "ratio": ratio,
        "reached": has_reached(row, ratio, median, limit_share),
        "interval": [low, high],
        "cpu_ratio": statistics.median(cpu_ratios),
        "ratios": ratios,
        "resident_bytes": {
            "ours": statistics.median(run.resident for run in mine),
            "peer": statistics.median(run.resident for run in theirs),
        },
        "figures": {"ours": figures_of(mine), "peer": figures_of(theirs)},
        "disturbed_pairs": sum(map(disturbed, measured)),
        "conditions": before,
    }


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


COLUMNS = {
    "benchmark": "{:<48}",
    "against": "{:<30}",
    "ours": "{:>10}",
    "peer": "{:>10}",
    "limit": "{:>10}",
    "of limit": "{:>8}",
    "unit": "{:<13}",
    "ratio": "{:>7}",
    "95 %": "{:>13}",
    "CPU": "{:>7}",
    "target": "{:>13}",
    "verdict": "{}",
}


def table_line(*cells):
    return " ".join(column.format(cell) for column, cell in zip(COLUMNS.values(), cells))


def wanted(result):
    """What has to be reached, in words: a ratio, a figure, a share of the limit, or several."""
    forms = {"target": "{:g}x", "goal": "{:g} " + result["unit"], "of_limit": "{:.0%}"}
    return ", ".join(form.format(result[name]) for name, form in forms.items() if result[name] is not None) or "-"


def as_line(result):
    if "failure" in result:
        return f"{result['name']} FAILED: {result['failure']}"
    low, high = result["interval"]
    target = wanted(result)
    verdict = "" if target == "-" else "reached" if result["reached"] else "MISSED"
    if result["disturbed_pairs"]:
        verdict += f" ({result['disturbed_pairs']} pairs disturbed by others)"
    return table_line(
        result["name"],
        result["peer_name"],
        number(result["ours"]),
        number(result["peer"]),
        number(result["limit"]),
        "-" if result["limit_share"] is None else f"{result['limit_share']:.0%}",
        result["unit"],
        f"{result['ratio']:.2f}x",
        f"{low:.2f}-{high:.2f}",
        f"{result['cpu_ratio']:.2f}x",
        target,
        verdict,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two short pairs each: a check that everything runs")
    only = "only benchmarks whose name contains NAME; may be given several times"
    parser.add_argument("--only", metavar="NAME", action="append", help=only)
    parser.add_argument("--pairs", type=int, help="measured pairs for each benchmark (5; 2 with --quick)")
    options = parser.parse_args()
    pairs = options.pairs or (2 if options.quick else 5)

    rows = [row for row in ALL_ROWS if any(word in row.name for word in options.only or [""])]
    if not rows:
        sys.exit(f"no benchmark has such a name; there are: {', '.join(row.name for row in ALL_ROWS)}")
    began = time.monotonic()
    print(table_line(*COLUMNS), flush=True)
    results = []
    for row in rows:
        results.append(measure(row, pairs, options.quick))
        print(as_line(results[-1]), flush=True)
    output = BUILD / "bench.json"
    output.write_text(json.dumps(results, indent=1) + "\n")
    minutes = (time.monotonic() - began) / 60
    print(f"\nup to {pairs} interleaved pairs each, {minutes:.0f} minutes in all; details in {os.path.relpath(output)}")
    sys.exit(any("failure" in result for result in results))


if __name__ == "__main__":
    main()
