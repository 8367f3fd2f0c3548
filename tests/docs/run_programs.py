"""Runs the programs of the pages: run_programs.py PROJECT BUILD ACCELERATE ASSETS.

Each has a directory of its own with the files that `make demo` uses in .assets, the texts cut to a few rows. It has to end
with 0 within two minutes, on one process and where the page says so on several.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROWS = {"train": 48, "eval": 32}


def make_assets(assets, directory):
    """The real weights, and the first rows of the texts."""
    directory.mkdir()
    for entry in assets.iterdir():
        if entry.name != "demo":
            (directory / entry.name).symlink_to(entry)
    (directory / "demo").mkdir()
    for path in (assets / "demo").glob("*.tsv"):
        rows = path.read_text().splitlines(keepends=True)[: ROWS[path.stem.rsplit("_", 1)[1]]]
        (directory / "demo" / path.name).write_text("".join(rows))


def run(command, directory, environment):
    result = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=120)
    return result.returncode, result.stdout + result.stderr


def main(project, build, accelerate, assets):
    failed = 0
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    for entry in json.loads((project / "programs.json").read_text()):
        program = [str(build / entry["command"][0]), *entry["command"][1:]]
        if entry["directive"].startswith("compile only"):
            print(f"{entry['page']} {entry['name']}: {entry['directive']}")
            continue
        for processes in entry["processes"]:
            with tempfile.TemporaryDirectory() as directory:
                make_assets(assets, pathlib.Path(directory) / ".assets")
                environment["XDG_CACHE_HOME"] = directory
                launch = [str(accelerate), "launch", "--num_processes", str(processes)] if processes > 1 else []
                code, said = run([*launch, *program], directory, environment)
            print(f"{entry['page']} {entry['name']} on {processes}: exit code {code}, {said.strip().splitlines()[-1:]}", flush=True)
            if code != 0:
                failed += 1
                print(said)
    sys.exit(f"{failed} programs failed" if failed else 0)


if __name__ == "__main__":
    main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:]))
