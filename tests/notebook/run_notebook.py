"""Runs a notebook as `jupyter nbconvert --execute` does; a cell that fails fails the test.

    run_notebook.py NOTEBOOK.ipynb [--ranks N]    with --ranks, every launch uses N processes
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def check_stored(path, notebook):
    """Notebooks are kept without what their cells printed."""
    for cell in notebook["cells"]:
        if cell.get("outputs") or cell.get("execution_count"):
            sys.exit(f"{path}: cell {cell['id']} has outputs; clear them before you store the notebook")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", type=pathlib.Path)
    parser.add_argument("--ranks", type=int)
    arguments = parser.parse_args()
    text = arguments.notebook.read_text()
    check_stored(arguments.notebook, json.loads(text))
    if arguments.ranks:
        text = re.sub(r"\.num_processes = \d+", f".num_processes = {arguments.ranks}", text)
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.ipynb"
        command = [sys.executable, "-m", "jupyter", "nbconvert", "--to", "notebook", "--execute", "--stdin", "--output", result]
        done = subprocess.run(command, input=text, text=True, cwd=arguments.notebook.parent)
        if done.returncode:
            sys.exit(done.returncode)
        for cell in json.loads(result.read_text())["cells"]:
            for output in cell.get("outputs", []):
                print(output.get("text") or list(output.get("data", {})))


if __name__ == "__main__":
    main()
