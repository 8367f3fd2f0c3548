#!/usr/bin/env python3
"""Loads the models that C++ saved, in Python: nothing may be missing or left over, and the logits are those of before.

  check_saved.py DIRECTORY
"""

import pathlib
import sys

import torch
import transformers
from safetensors.torch import load_file

from cases import CASES


def check(case, directory):
    model, report = case.model_class.from_pretrained(directory / "saved", output_loading_info=True)
    left = {kind: names for kind, names in report.items() if names}
    assert not left, f"{case.name}: {left}"
    results = load_file(directory / "results.safetensors")
    inputs = {name.removeprefix("input."): value for name, value in results.items() if name.startswith("input.")}
    with torch.no_grad():
        logits = model(**inputs).logits
    assert logits.dtype == results["logits"].dtype and torch.equal(logits, results["logits"]), case.name


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    for case in CASES:
        check(case, pathlib.Path(sys.argv[1]) / case.name)


if __name__ == "__main__":
    main()
