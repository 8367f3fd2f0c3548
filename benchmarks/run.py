"""Measures the library against Python's Accelerate on the same libtorch, in one run.

    run.py [--quick] [--only NAME] [--pairs N]

Prints a table and writes build/bench.json: a list of objects with name, ours, peer, peer_name, limit, unit, ratio (how
many times better than the peer; above 1 is better), target for the ratio and goal for ours, beside the interval of the ratio,
the ratio of CPU times and the conditions of the measurement. A benchmark whose two sides compute different things gets no number and fails the
run.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import sys

from checkpoint_rows import CHECKPOINT_ROWS
from command_rows import COMMAND_ROWS
from measure import BenchmarkFailure, Side, disturbed, measure_pairs, median_with_interval, run_side
from network_rows import NETWORK_ROWS
from rows import BUILD, ROWS


def read_first_line(path):
    try:
        return pathlib.Path(path).read_text().splitlines()[0].strip()
    except (OSError, IndexError):
        return None


def conditions():
    models = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return {
        "cpu": f"{len(models)} x {models[0]}" if models else platform.machine(),
        "governor": read_first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "kernel": platform.release(),
        "loadavg": list(os.getloadavg()),
        "pressure": read_first_line("/proc/pressure/cpu"),
        "versions": {name: importlib.metadata.version(name) for name in ("torch", "accelerate")}
        | {"python": platform.python_version()},
    }


def measure_limit(row, quick):
    """The best of three runs, because nothing can be better than the limit."""
    if row.limit is None:
        return None
    values = [row.value(run_side(row.limit(quick), row.num_processes)) for _ in range(3)]
    return max(values) if row.higher_is_better else min(values)


def measure(row, pairs, quick):
    """The object of `row` for bench.json."""
    before = conditions()
    result = {"name": row.name, "peer_name": row.peer_name, "unit": row.unit, "target": row.target, "goal": row.goal}
    empty = {"ours": None, "peer": None, "limit": None, "ratio": None}
    try:
        ours = Side(row.ours(quick), row.num_processes, row.rehearsed)
        peer = Side(row.peer(quick), row.peer_processes or row.num_processes, row.rehearsed)
        measured = measure_pairs(ours, peer, pairs, row.same_work)
        limit = measure_limit(row, quick)
    except BenchmarkFailure as failure:
        return result | empty | {"failure": str(failure), "conditions": before}
    ratios = [row.better(row.value(mine), row.value(theirs)) for mine, theirs in measured]
    cpu_ratios = [(theirs.cpu / theirs.work) / (mine.cpu / mine.work) for mine, theirs in measured]
    ratio, low, high = median_with_interval(ratios)
    median = statistics.median(row.value(mine) for mine, _ in measured)
    reached = (row.target is None or ratio >= row.target) and (row.goal is None or row.better(median, row.goal) >= 1)
    return result | {
        "ours": median,
        "peer": statistics.median(row.value(theirs) for _, theirs in measured),
        "limit": limit,
        "ratio": ratio,
        "reached": reached,
        "interval": [low, high],
        "cpu_ratio": statistics.median(cpu_ratios),
        "ratios": ratios,
        "resident_bytes": {
            "ours": statistics.median(mine.resident for mine, _ in measured),
            "peer": statistics.median(theirs.resident for _, theirs in measured),
        },
        "disturbed_pairs": sum(map(disturbed, measured)),
        "conditions": before,
    }


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


HEADINGS = ("benchmark", "against", "ours", "peer", "limit", "unit", "ratio", "95 %", "CPU", "target", "verdict")
COLUMNS = ("{:<38}", "{:<30}", "{:>10}", "{:>10}", "{:>10}", "{:<10}", "{:>7}", "{:>11}", "{:>7}", "{:>7}", "{}")


def table_line(*cells):
    return " ".join(column.format(cell) for column, cell in zip(COLUMNS, cells))


def as_line(result):
    if "failure" in result:
        return f"{result['name']:<38} FAILED: {result['failure']}"
    low, high = result["interval"]
    target = "-" if result["target"] is None else f"{result['target']:g}x"
    if result["goal"] is not None:
        target = f"{result['goal']:g} {result['unit']}"
    verdict = "" if target == "-" else "reached" if result["reached"] else "MISSED"
    if result["disturbed_pairs"]:
        verdict += f" ({result['disturbed_pairs']} pairs disturbed by others)"
    return table_line(
        result["name"],
        result["peer_name"],
        number(result["ours"]),
        number(result["peer"]),
        number(result["limit"]),
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
    parser.add_argument("--only", metavar="NAME", help="only benchmarks whose name contains NAME")
    parser.add_argument("--pairs", type=int, help="measured pairs for each benchmark (5; 2 with --quick)")
    options = parser.parse_args()
    pairs = options.pairs or (2 if options.quick else 5)

    all_rows = ROWS + NETWORK_ROWS + CHECKPOINT_ROWS + COMMAND_ROWS
    rows = [row for row in all_rows if options.only is None or options.only in row.name]
    if not rows:
        sys.exit(f"no benchmark is called '{options.only}'; there are: {', '.join(row.name for row in all_rows)}")
    print(table_line(*HEADINGS), flush=True)
    results = []
    for row in rows:
        results.append(measure(row, pairs, options.quick))
        print(as_line(results[-1]), flush=True)
    output = BUILD / "bench.json"
    output.write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n{pairs} interleaved pairs each; details in {os.path.relpath(output)}")
    sys.exit(any("failure" in result for result in results))


if __name__ == "__main__":
    main()
